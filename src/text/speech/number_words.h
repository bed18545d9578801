#pragma once

#include <string>
#include <string_view>

namespace tutti {

// Figures as English words, in small letters, parted by single spaces. Figures are ASCII's, without signs.

/// "1,234" without its commas is "one thousand two hundred thirty four". Numbers of more than 15 figures, and those
/// with zeros in front, are read figure by figure.
std::string cardinal_words(std::string_view figures);

/// "21" is "twenty first".
std::string ordinal_words(std::string_view figures);

/// "1999" is "nineteen ninety nine", "1905" "nineteen oh five", "2004" "two thousand four", "1800" "eighteen hundred".
std::string year_words(std::string_view figures);

/// "305" is "three zero five".
std::string figure_words(std::string_view figures);

/// "3.14" is "three point one four", also ".5"; text without a point is read as cardinal_words does.
std::string decimal_words(std::string_view number);

/// The plural of number words: "nineteen eighty" is "nineteen eighties".
std::string plural_of_number(std::string words);

}  // namespace tutti
