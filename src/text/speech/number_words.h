#pragma once

#include <string>
#include <string_view>

namespace tutti {

// Digits as English words, in lower case, parted by single spaces: as text is read aloud. The other way, from words to
// digits, is in text/english/numbers.h. Digits are ASCII's, without signs; the caller checks that.

/// The value of at most nine digits, zeros in front included. Throws std::invalid_argument or std::out_of_range for
/// other text.
int number_of(std::string_view digits);

/// "1,234" without its commas is "one thousand two hundred thirty four". Numbers of more than 15 digits, and those
/// with zeros in front, are read digit by digit.
/// Nothing between hundreds and tens: "and" is a matter of dialect, and the english normaliser drops it.
std::string cardinal_words(std::string_view digits);

/// "21" is "twenty first", "100" "one hundredth". As cardinal_words otherwise.
std::string ordinal_words(std::string_view digits);

/// "1999" is "nineteen ninety nine", "1905" "nineteen oh five", "2004" "two thousand four", "1800" "eighteen hundred".
/// Text that has other than four digits, or begins with a zero, is read as a number.
std::string year_words(std::string_view digits);

/// Each digit by its name, zeros included:
/// "305" is "three zero five": as people read numbers of telephones, tickets and accounts.
std::string digit_words(std::string_view digits);

/// How numbers of houses, flights and models are read: "221" is "two twenty one", "305" "three oh five", "1428"
/// "fourteen twenty eight", "8080" "eighty eighty". Other than three or four digits are read as cardinal_words does.
std::string paired_words(std::string_view digits);

/// Two digits that belong to a number before them, as of a short year: "08" is "oh eight", "85" "eighty five". Other
/// counts of digits are read as cardinal_words does.
std::string two_digit_words(std::string_view digits);

/// What is behind the point is read digit by digit, however many there are.
/// "3.14" is "three point one four", also ".5"; text without a point is read as cardinal_words does.
std::string decimal_words(std::string_view number);

/// "1/2" is "one half", "3/4" "three quarters", "2/3" "two thirds", "5/0" "five over zero".
std::string fraction_words(std::string_view above, std::string_view below);

/// The plural of number words: "nineteen eighty" is "nineteen eighties".
/// Words that end in "six" get "es", those in "y" "ies", all others "s".
std::string plural_of_number(std::string words);

}  // namespace tutti
