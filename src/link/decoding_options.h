#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

/// How a window is decoded, by openai-whisper's names: one struct from flag and form to the search, which nothing on
/// the way takes apart. Only its tokens change there: the control side resolves them by the model's tokenizer.
struct DecodingOptions {
  std::optional<std::int32_t> best_of{};    // samples to choose from at a temperature above zero; none: 1
  std::optional<std::int32_t> beam_size{};  // beams at temperature zero; none or 0: the most probable token each time
  std::optional<double> patience{};         // ends a search at beam_size * patience hypotheses, rounded; none: 1
  /// 0 to 1: hypotheses rank by log-probability / ((5 + tokens) / 6)^length_penalty; none or negative: per token.
  std::optional<double> length_penalty{};
  std::uint64_t seed = 0;                       // of the samples
  std::vector<std::int32_t> suppress_tokens{};  // ids never sampled; before they are resolved -1: the non-speech tokens
  bool suppress_blank = true;                   // neither a blank nor the end as the first token
  bool timestamps = true;                       // in pairs, rising, and whenever they outweigh the text
  std::int32_t max_initial_timestamp = 50;      // latest first timestamp in steps of 0.02 s; negative: no limit
  bool token_logprobs = false;                  // the answer has the log-probability of every token

  /// 0: the most probable token each time.
  std::int32_t beams() const { return beam_size.value_or(0); }
  bool operator==(const DecodingOptions&) const = default;
};

/// Every field with its name, in the order of the wire. link/wire.cpp does not compile where one is missing.
inline constexpr auto kDecodingFields = std::tuple(
    std::pair("best_of", &DecodingOptions::best_of), std::pair("beam_size", &DecodingOptions::beam_size),
    std::pair("patience", &DecodingOptions::patience), std::pair("length_penalty", &DecodingOptions::length_penalty),
    std::pair("seed", &DecodingOptions::seed), std::pair("suppress_tokens", &DecodingOptions::suppress_tokens),
    std::pair("suppress_blank", &DecodingOptions::suppress_blank),
    std::pair("timestamps", &DecodingOptions::timestamps),
    std::pair("max_initial_timestamp", &DecodingOptions::max_initial_timestamp),
    std::pair("token_logprobs", &DecodingOptions::token_logprobs));

}  // namespace tutti
