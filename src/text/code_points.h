#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Text as Python's str and re see it, one element a code point: Whisper's rules for text are written for that. All
// functions are pure. Unicode is of the version of utf8proc unless noted.

/// Unicode 16's \p{L}.
bool is_letter(char32_t value);
/// Unicode 16's \p{N}.
bool is_number(char32_t value);
/// Unicode's property White_Space, which is \s in the expression that splits text for the tokenizer.
bool is_white_space(char32_t value);

/// Whether a character is in lower or upper case; in many scripts it is neither.
enum class LetterCase { none, small, capital };
LetterCase case_of(char32_t value);

/// str.lower(): full case mapping, with the final sigma and U+0130 as the special cases.
std::u32string lower(std::u32string_view text);

/// str.isspace(), which is also \s of re: White_Space and the four separators U+001C to U+001F.
bool is_space(char32_t value);
/// \w of re.
bool is_word_character(char32_t value);
/// \d of re.
bool is_decimal(char32_t value);
/// 0 to 9. `value` must be a decimal.
int decimal_value(char32_t value);

/// Unicode's general categories, as far as a normaliser distinguishes them: Mn; Mc and Me; S*; P*; all else.
enum class GeneralClass { mark_nonspacing, mark, symbol, punctuation, other };
GeneralClass class_of(char32_t value);

/// Unicode's normal forms, as Python's unicodedata.normalize makes them.
std::u32string nfc(std::u32string_view text);
std::u32string nfkc(std::u32string_view text);
std::u32string nfkd(std::u32string_view text);

/// Equal for texts that differ only in case, in how their characters are composed, or in characters that do not show
/// (Unicode's Default_Ignorable): str.casefold() of "STRASSE" and of "stra\u00DFe" is "strasse". Composed.
std::u32string case_folded(std::u32string_view text);

/// \b of re: whether a word begins or ends right before `at`, which may be text.size().
bool at_word_border(std::u32string_view text, std::size_t at);

/// str.split()
std::vector<std::u32string_view> split_at_spaces(std::u32string_view text);

/// What replaces `length` code points of the text (at least 1).
struct Replacement {
  std::size_t length = 1;
  std::u32string text{};
};

/// re.sub: calls `match_at` at every position, from left to right, going on behind what was replaced.
std::u32string substitute(std::u32string_view text,
                          const std::function<std::optional<Replacement>(std::size_t at)>& match_at);

/// re.sub(r"\s+", " ", text)
std::u32string join_spaces(std::u32string_view text);

}  // namespace tutti
