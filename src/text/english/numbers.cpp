#include "text/english/numbers.h"

#include <optional>
#include <vector>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

bool is_small_letter(char32_t value) {
  return value >= U'a' && value <= U'z';
}

std::size_t skip_spaces(std::u32string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// End of \band\s+a\s+half\b at `at`, 0 where it does not stand there.
std::size_t and_a_half(std::u32string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(U"and") || !at_word_border(text, at)) return 0;
  const std::size_t a = skip_spaces(text, at + 3);
  if (a == at + 3 || !text.substr(a).starts_with(U"a")) return 0;
  const std::size_t half = skip_spaces(text, a + 1);
  if (half == a + 1 || !text.substr(half).starts_with(U"half") || !at_word_border(text, half + 4)) return 0;
  return half + 4;
}

bool takes_a_half(std::u32string_view word) {
  const NumberWord* meaning = number_word(to_utf8(word));
  if (!meaning) return false;
  return meaning->kind == NumberKind::zero || meaning->kind == NumberKind::one || meaning->kind == NumberKind::ten ||
         meaning->kind == NumberKind::multiplier;
}

/// "two and a half" becomes "two point five".
std::u32string write_halves(std::u32string_view text) {
  std::u32string out;
  const auto add = [&](std::u32string_view part) {
    if (!out.empty()) out.push_back(U' ');
    out += part;
  };
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = and_a_half(text, at);
    if (end == 0) {
      ++at;
      continue;
    }
    const std::u32string_view segment = text.substr(start, at - start);
    if (const auto words = split_at_spaces(segment); !words.empty()) {
      add(segment);
      add(takes_a_half(words.back()) ? U"point five" : U"and a half");
    }
    start = at = end;
  }
  if (!split_at_spaces(text.substr(start)).empty()) add(text.substr(start));
  return out;
}

/// A space between alphabetic characters and digits: "20th" becomes "20 th", for now.
std::u32string part_letters_and_digits(std::u32string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && ((is_small_letter(text[at - 1]) && is_ascii_digit(text[at])) ||
                   (is_ascii_digit(text[at - 1]) && is_small_letter(text[at]))))
      out.push_back(U' ');
    out.push_back(text[at]);
  }
  return out;
}

/// No space before what may be a suffix: re.sub(r"([0-9])\s+(st|nd|rd|th|s)\b", r"\1\2", text)
std::u32string join_suffixes(std::u32string_view text) {
  return substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (!is_ascii_digit(text[at])) return {};
    const std::size_t suffix = skip_spaces(text, at + 1);
    if (suffix == at + 1) return {};
    for (const std::u32string_view ending : {U"st", U"nd", U"rd", U"th", U"s"})
      if (text.substr(suffix).starts_with(ending) && at_word_border(text, suffix + ending.size()))
        return Replacement{suffix + ending.size() - at, text[at] + std::u32string(ending)};
    return {};
  });
}

/// Digits from `at` on, at most `most`.
std::size_t count_digits(std::u32string_view text, std::size_t at, std::size_t most) {
  std::size_t count = 0;
  while (count < most && at + count < text.size() && is_ascii_digit(text[at + count])) ++count;
  return count;
}

/// One or two digits and then no more of the word; 0 where something else is there.
std::size_t cents_at(std::u32string_view text, std::size_t at) {
  const std::size_t count = count_digits(text, at, 2);
  return count > 0 && at_word_border(text, at + count) ? count : 0;
}

bool is_currency(char32_t value) {
  return value == U'€' || value == U'£' || value == U'$';
}

/// "$2 and ¢7" -> "$2.07": re.sub(r"([€£$])([0-9]+) (?:and )?¢([0-9]{1,2})\b", ...)
std::u32string combine_cents(std::u32string_view text) {
  return substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (!is_currency(text[at])) return {};
    const std::size_t whole = count_digits(text, at + 1, text.size());
    std::size_t sign = at + 1 + whole;
    if (whole == 0 || sign >= text.size() || text[sign] != U' ') return {};
    ++sign;
    if (text.substr(sign).starts_with(U"and ")) sign += 4;
    if (sign >= text.size() || text[sign] != U'¢') return {};
    const std::size_t count = cents_at(text, sign + 1);
    if (count == 0) return {};
    std::u32string made(text.substr(at, 1 + whole));
    made += count == 1 ? U".0" : U".";
    made += text.substr(sign + 1, count);
    return Replacement{sign + 1 + count - at, std::move(made)};
  });
}

/// "$0.07" -> "¢7": re.sub(r"[€£$]0.([0-9]{1,2})\b", ...), where the point matches any character, as in the reference
std::u32string extract_cents(std::u32string_view text) {
  return substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (!is_currency(text[at]) || at + 3 >= text.size() || text[at + 1] != U'0' || text[at + 2] == U'\n') return {};
    const std::size_t count = cents_at(text, at + 3);
    if (count == 0) return {};
    const bool leading_zero = count == 2 && text[at + 3] == U'0';
    const auto cents = text.substr(at + (leading_zero ? 4 : 3), leading_zero ? 1 : count);
    return Replacement{3 + count, U"¢" + std::u32string(cents)};
  });
}

/// "one" reads better than "1": re.sub(r"\b1(s?)\b", r"one\1", text)
std::u32string write_ones(std::u32string_view text) {
  return substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (text[at] != U'1' || !at_word_border(text, at)) return {};
    if (text.substr(at + 1).starts_with(U's') && at_word_border(text, at + 2)) return Replacement{2, U"ones"};
    if (at_word_border(text, at + 1)) return Replacement{1, U"one"};
    return {};
  });
}

}  // namespace

std::u32string digits_for_number_words(std::u32string_view text) {
  const std::u32string prepared = join_suffixes(part_letters_and_digits(write_halves(text)));
  std::vector<std::string> words;
  for (const std::u32string_view word : split_at_spaces(prepared)) words.push_back(to_utf8(word));
  std::u32string read;
  for (const std::string& word : read_numbers(words)) {
    if (!read.empty()) read.push_back(U' ');
    read += to_code_points(word);
  }
  return write_ones(extract_cents(combine_cents(read)));
}

}  // namespace tutti
