#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

// Tokens of OpenAI's models, n_vocab of their dimensions ...
inline constexpr std::int32_t kEnglishVocabulary = 51864;
inline constexpr std::int32_t kMultilingualVocabulary = 51865;  // up to large-v2
inline constexpr std::int32_t kLargeV3Vocabulary = 51866;       // one language more
// ... and how many of them are text. Special tokens and timestamps follow.
inline constexpr std::int32_t kEnglishTextTokens = 50256;
inline constexpr std::int32_t kMultilingualTextTokens = 50257;

/// The .tiktoken file that OpenAI's models of this vocabulary size were trained with, built into the program: their .pt
/// files carry weights only. kEnglishVocabulary and less: GPT-2's, for English; more: the multilingual one.
std::string_view openai_vocabulary(std::int32_t n_vocab);

}  // namespace tutti
