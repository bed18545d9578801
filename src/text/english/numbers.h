#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// How an English word takes part in a spelled-out number.
enum class NumberKind {
  zero,          // "oh"
  one,           // "one" to "nineteen"
  one_suffixed,  // "third", "sixes"
  ten,           // "twenty" to "ninety"
  ten_suffixed,  // "twentieth", "twenties"
  multiplier,    // "hundred" to "decillion"
  multiplier_suffixed,
  preceding_prefix,  // "minus": a sign before the number
  following_prefix,  // "dollars": a sign before the number that it follows
  suffix,            // "percent", and "per" before "cent"
  special,           // "and", "double", "triple", "point"
};

struct NumberWord {
  NumberKind kind;
  std::string value;   // the number in digits, or the sign
  std::string suffix;  // "th", "s", ...
};

/// What the word means in a number; nullptr for words that mean nothing there.
const NumberWord* number_word(std::string_view word);

/// Whole numbers of any length as ASCII digits without leading zeros ("0" for zero): what the number normaliser needs
/// of Python's int and Fraction, whose numbers have no largest one either ("decillion").

/// `digits` without leading zeros.
std::string trimmed_digits(std::string_view digits);

/// a + b.
std::string add_digits(std::string_view a, std::string_view b);

/// Whether `digits` is divisible by 10^zeros.
bool ends_in_zeros(std::string_view digits, std::size_t zeros);

/// value / 1000 * 1000 + value % 1000 * 10^zeros: "two thousand three" times a hundred is 2300.
std::string multiply_rest(std::string_view value, std::size_t zeros);

/// A number such as "12", "1.5", "1." or ".5" times 10^zeros; nothing where `text` is no such number or the product is
/// not whole.
std::optional<std::string> shift_point(std::string_view text, std::size_t zeros);

/// Whether `text` is digits with at most one point inside: ^\d+(\.\d+)?$
bool is_numeric(std::string_view text);

/// "3.0" is whole: nothing but zeros behind the point, if there is one. `text` is numeric.
std::optional<std::string> whole_number(std::string_view text);

/// Goes through words in lower case and writes spelled-out numbers among them in digits, with sign and suffix:
/// {"minus", "twenty", "first"} -> {"-21st"}. The rules, word by word, are those of the reference's process_words.
std::vector<std::string> read_numbers(const std::vector<std::string>& words);

/// Spelled-out numbers in digits: "two hundred and twenty second" -> "222nd", "three dollars" -> "$3", "one oh one" ->
/// "101". `text` is in lower case; words come back with one space between them.
std::u32string digits_for_number_words(std::u32string_view text);

}  // namespace tutti
