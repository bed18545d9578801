#pragma once

#include <fstream>
#include <numeric>
#include <string>

#include "base/json.h"
#include "decode/decoding_tokens.h"
#include "decode/sequence_request.h"

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

/// Of all tokens and end-of-text, as the reference's avg_logprob counts them.
inline double mean_logprob(const DecodeOutcome& outcome) {
  const auto& logprobs = outcome.token_logprobs;
  return std::accumulate(logprobs.begin(), logprobs.end(), 0.0) / static_cast<double>(outcome.tokens.size() + 1);
}

}  // namespace tutti
