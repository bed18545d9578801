#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/files/vocabulary_files.h"
#include "text/tokenizer.h"

namespace tutti {

inline constexpr std::int32_t kTimestampTokens = 1501;  // 0.00 s to 30.00 s, the last of a Whisper's vocabulary

/// The ids as OpenAI lays them out behind `text_tokens` tokens of text (openai-whisper, tokenizer.py):
/// kEnglishTextTokens make the English vocabulary, kMultilingualTextTokens the multilingual one.
SpecialTokens standard_special_tokens(std::int32_t text_tokens, std::int32_t languages);

/// As above for a .tiktoken file; `n_vocab` of the model decides how many languages there are (99 without it).
Result<SpecialTokens> special_tokens_for(std::int32_t text_tokens, std::optional<std::int32_t> n_vocab);

/// From the names in `added`, which decide alone for a vocabulary that is not Whisper's own; for one that is, they must
/// agree with the standard layout. `n_vocab`, where given, must be large enough for them.
Result<SpecialTokens> special_tokens_from(const std::vector<AddedToken>& added, std::optional<std::int32_t> n_vocab);

/// Every special token below the timestamps, as the reference writes it: {50257, "<|endoftext|>"}, ...
std::vector<std::pair<std::int32_t, std::string>> special_token_names(const SpecialTokens& special);

/// "<|1.08|>" for 54 steps of 0.02 s.
std::string timestamp_name(std::int32_t steps);

}  // namespace tutti
