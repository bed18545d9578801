#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tutti {

/// One word, or what a language without spaces has instead, and the tokens that spell it.
struct SpelledWord {
  std::string text{};  // with its leading space
  std::vector<std::int32_t> ids{};
};

/// Whether a language, by its code, has no spaces between words (zh ja th lo my yue).
bool is_written_without_spaces(std::string_view language);

/// Cuts `ids` into words as openai-whisper's tokenizer does (20250625, split_to_word_tokens): before a space and around
/// punctuation; in languages written without spaces (zh ja th lo my yue) wherever the tokens so far are whole code
/// points. An English-only vocabulary has no language: spaces. Special tokens are words of their own. Tokens at the end
/// whose bytes never become whole are left out, as there; put an end-of-text behind the ids to keep them apart.
std::vector<SpelledWord> split_to_words(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                                        std::string_view language);

}  // namespace tutti
