// Digits within a word: "21st-century", "A380", "3/4-inch".

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/strings.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

bool are_capitals(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_ascii_upper);
}

/// Digits behind characters: "A380", "Uranium-235" and "report_2023" are read in pairs, "ABC-12345" digit by digit.
std::string numbered_words(std::string_view left, std::string_view digits, bool has_more) {
  constexpr std::size_t kPairs = 3, kYear = 4;
  const bool is_joined = left.ends_with('-') || left.ends_with('_');
  const auto name = is_joined ? left.substr(0, left.size() - 1) : left;
  const bool is_of_code = left.size() > 1 && left.front() == '#';  // "#2024-117"
  const bool is_behind_word = !name.empty() && (is_ascii_alphabetic(name.back()) || is_of_code);
  constexpr std::size_t kShort = 3;  // "A380", "BA117", "RTX4090"
  const bool is_initial = left.size() <= kShort && are_capitals(left);
  if (left == "#" && digits.size() == kYear && has_more) return year_words(digits);
  if ((left == "FY" || left == "CY") && may_be_year(digits)) return year_words(digits);
  constexpr std::size_t kLongestCount = 6;
  if (is_behind_word && digits.size() > kLongestCount) return digit_words(digits);  // "1Z999AA10123456784"
  if (digits.front() == '0' || !is_behind_word || !(is_joined || is_initial)) return cardinal_words(digits);
  if (digits.size() > kYear) return digit_words(digits);
  const bool is_in_pairs = (digits.size() == kPairs && !digits.ends_with("00")) || digits.size() == kYear;
  return is_in_pairs ? paired_words(digits) : cardinal_words(digits);
}

}  // namespace

bool has_ordinal_ending(std::string_view text) {
  constexpr std::size_t kEnding = 2;
  const auto ending = ascii_lower(text.substr(0, kEnding));
  const bool is_one = ending == "st" || ending == "nd" || ending == "rd" || ending == "th";
  return is_one && (text.size() == kEnding || !is_ascii_alphabetic(text[kEnding]));
}

std::size_t read_digits_within(EnglishCursor& text, std::string_view left, std::string_view rest) {
  const auto number = number_at_front(rest);
  const auto behind = rest.substr(number.size());
  constexpr std::size_t kEnding = 2;
  const bool is_ordinal = has_ordinal_ending(behind);
  const auto below = behind.starts_with('/') ? number_at_front(behind.substr(1)) : std::string_view();
  if (is_all_digits(number) && is_all_digits(below)) {  // "3/4-inch", "post-9/11"
    text.add_words(is_spoken_pair(number, below) ? cardinal_words(number) + " " + cardinal_words(below)
                                                 : fraction_words(number, below));
    return number.size() + 1 + below.size();
  }
  constexpr auto kSections = std::to_array<std::string_view>({"401", "403", "501", "529"});  // "401(k)"
  if (behind.starts_with('(') && std::ranges::find(kSections, number) != kSections.end()) {
    text.add_words(paired_words(number));
    return number.size();
  }
  const bool is_plural = behind.starts_with("s-") || behind == "s";  // "1990s-2000s"
  if ((!is_ordinal && !is_plural) || !is_all_digits(number)) {
    const bool is_last = behind.empty() || !(is_ascii_alphabetic(behind.front()) || is_ascii_digit(behind.front()));
    text.add_words(is_last && is_all_digits(number) ? numbered_words(left, number, behind.starts_with('-'))
                                                    : decimal_words(without_commas(number)));
    return number.size();
  }
  text.add_words(is_plural ? plural_of_number(year_words(number)) : ordinal_words(number));
  const auto size = number.size() + (is_plural ? 1 : kEnding);
  const auto next = rest.substr(size);  // "12th-14th"
  if (next.size() > 1 && next.front() == '-' && is_ascii_digit(next[1])) text.add_words("to");
  return size;
}

}  // namespace tutti
