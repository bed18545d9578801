#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/list/emulated_card.h"

namespace tutti {

/// What an emulated card reports and writes: the facts and words of some model, in its tokenizer's ids.
struct EmulatedSpeech {
  std::int32_t n_mels = 80;
  std::int32_t n_audio_ctx = 1500;
  std::int32_t n_text_ctx = 448;
  std::int32_t n_vocab = 51865;
  std::int32_t timestamp_begin = 50364;
  std::vector<std::int32_t> languages{};           ///< the first is always the one detected
  std::vector<std::vector<std::int32_t>> words{};  ///< ids of each word, with its space; at least one
  std::vector<std::int32_t> stop{};                ///< ids of what ends a sentence
  bool operator==(const EmulatedSpeech&) const = default;
};

/// Card and speech as arguments of a program, "name=value" each, and back. Fault::usage names the argument.
struct EmulatedPart {
  EmulatedCard card{};
  EmulatedSpeech speech{};
  std::string build_id{};
  bool operator==(const EmulatedPart&) const = default;
};
std::vector<std::string> words_of(const EmulatedPart& part);
Result<EmulatedPart> part_of(const std::vector<std::string>& words);

}  // namespace tutti
