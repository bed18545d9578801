#pragma once

#include <fstream>
#include <string>

#include "base/json.h"
#include "decode/decoding_tokens.h"

namespace tutti {

inline nlohmann::json golden(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(TUTTI_SOURCE_DIR "/tests/data/decode/" + name));
}

inline DecodingTokens tokens_of(const nlohmann::json& vocabulary) {
  return {.eot = vocabulary["eot"],
          .timestamp_begin = vocabulary["timestamp_begin"],
          .no_timestamps = vocabulary["no_timestamps"].get<std::int32_t>(),
          .no_speech = vocabulary["no_speech"].get<std::int32_t>(),
          .blank = vocabulary["blank"]};
}

}  // namespace tutti
