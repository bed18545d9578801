#include "text/speech/number_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 20> kOnes{
    "zero", "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",
    "ten",  "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 5> kGroups{"", "thousand", "million", "billion", "trillion"};
constexpr std::size_t kMostDigits = 15;

void add(std::string& words, std::string_view more) {
  if (!words.empty() && !more.empty()) words += ' ';
  words += more;
}

/// Below 100; nothing for zero.
std::string small_words(int value) {
  if (value == 0) return {};
  if (value < 20) return std::string(kOnes[static_cast<std::size_t>(value)]);
  std::string words(kTens[static_cast<std::size_t>(value / 10)]);
  if (value % 10 != 0) add(words, kOnes[static_cast<std::size_t>(value % 10)]);
  return words;
}

/// Below 1000; nothing for zero.
std::string group_words(int value) {
  std::string words;
  if (value >= 100) words = std::string(kOnes[static_cast<std::size_t>(value / 100)]) + " hundred";
  add(words, small_words(value % 100));
  return words;
}

int value_of(std::string_view digits) {
  int value = 0;
  for (const char digit : digits) value = 10 * value + (digit - '0');
  return value;
}

/// The last word's end "from" becomes "to".
bool change_end(std::string& words, std::string_view from, std::string_view to) {
  if (!words.ends_with(from)) return false;
  words.replace(words.size() - from.size(), from.size(), to);
  return true;
}

}  // namespace

std::string digit_words(std::string_view digits) {
  std::string words;
  for (const char digit : digits) add(words, kOnes[static_cast<std::size_t>(digit - '0')]);
  return words;
}

int number_of(std::string_view digits) {
  return std::stoi(std::string(digits));
}

std::string cardinal_words(std::string_view digits) {
  if (digits.size() > kMostDigits || (digits.size() > 1 && digits.front() == '0')) return digit_words(digits);
  std::string words;
  for (std::size_t left = digits.size(); left > 0;) {
    const std::size_t size = left % 3 == 0 ? 3 : left % 3;
    const int value = value_of(digits.substr(digits.size() - left, size));
    left -= size;
    if (value == 0) continue;
    add(words, group_words(value));
    add(words, kGroups[left / 3]);
  }
  return words.empty() ? "zero" : words;
}

std::string ordinal_words(std::string_view digits) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kEnds{{{"one", "first"},
                                                                                {"two", "second"},
                                                                                {"three", "third"},
                                                                                {"five", "fifth"},
                                                                                {"eight", "eighth"},
                                                                                {"nine", "ninth"},
                                                                                {"twelve", "twelfth"},
                                                                                {"y", "ieth"},
                                                                                {"", "th"}}};
  std::string words = cardinal_words(digits);
  for (const auto& [from, to] : kEnds)
    if (change_end(words, from, to)) break;
  return words;
}

std::string year_words(std::string_view digits) {
  constexpr std::size_t kDigits = 4;
  if (digits.size() != kDigits || digits.front() == '0') return cardinal_words(digits);
  const int value = value_of(digits);
  if (value % 1000 < 10) return cardinal_words(digits);  // 2000 to 2009, 1000
  std::string words = small_words(value / 100);
  if (value % 100 == 0) return words + " hundred";
  if (value % 100 < 10) add(words, "oh");
  add(words, small_words(value % 100));
  return words;
}

std::string paired_words(std::string_view digits) {
  constexpr std::size_t kThree = 3;
  if (digits.size() != kThree || digits.front() == '0') return year_words(digits);
  const auto behind = digits.substr(1);
  std::string words = cardinal_words(digits.substr(0, 1));
  if (behind == "00") return words + " hundred";
  return words + " " + two_digit_words(behind);
}

std::string two_digit_words(std::string_view digits) {
  constexpr std::size_t kTwo = 2;
  if (digits.size() != kTwo || digits.front() != '0') return cardinal_words(digits);
  return "oh " + cardinal_words(digits.substr(1));
}

std::string decimal_words(std::string_view number) {
  const auto point = number.find('.');
  if (point == std::string_view::npos) return cardinal_words(number);
  std::string words = point == 0 ? "" : cardinal_words(number.substr(0, point));
  add(words, "point");
  add(words, digit_words(number.substr(point + 1)));
  return words;
}

std::string fraction_words(std::string_view above, std::string_view below) {
  const std::string words = cardinal_words(above);
  const bool is_one = above == "1";
  if (below == "2") return words + (is_one ? " half" : " halves");
  if (below == "4") return words + (is_one ? " quarter" : " quarters");
  if (below == "0" || below == "1") return words + " over " + cardinal_words(below);
  return words + " " + ordinal_words(below) + (is_one ? "" : "s");
}

std::string plural_of_number(std::string words) {
  if (change_end(words, "y", "ies") || change_end(words, "six", "sixes")) return words;
  return words + "s";
}

}  // namespace tutti
