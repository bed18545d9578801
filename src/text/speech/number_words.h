#pragma once

#include <string>
#include <string_view>

namespace tutti {

// Figures as English words, in lower case, parted by single spaces: as text is read aloud. The other way, from words to
// figures, goes text/english/numbers.h. Figures are ASCII's, without signs; what is none is a caller's mistake.

/// "1,234" without its commas is "one thousand two hundred thirty four". Numbers of more than 15 figures, and those
/// with zeros in front, are read figure by figure.
/// Nothing between hundreds and tens: "and" is a matter of dialect, and the english normaliser drops it.
std::string cardinal_words(std::string_view figures);

/// "21" is "twenty first", "100" "one hundredth". As cardinal_words otherwise.
std::string ordinal_words(std::string_view figures);

/// "1999" is "nineteen ninety nine", "1905" "nineteen oh five", "2004" "two thousand four", "1800" "eighteen hundred".
/// Text that has other than four figures, or begins with a zero, is read as a number.
std::string year_words(std::string_view figures);

/// Each figure by its name, zeros included:
/// "305" is "three zero five": as people read numbers of telephones, tickets and accounts.
std::string figure_words(std::string_view figures);

/// What is behind the point is read figure by figure, however many there are.
/// "3.14" is "three point one four", also ".5"; text without a point is read as cardinal_words does.
std::string decimal_words(std::string_view number);

/// "1/2" is "one half", "3/4" "three quarters", "2/3" "two thirds", "5/0" "five over zero".
std::string fraction_words(std::string_view above, std::string_view below);

/// The plural of number words: "nineteen eighty" is "nineteen eighties".
/// Words that end in "six" get "es", those in "y" "ies", all others "s".
std::string plural_of_number(std::string words);

}  // namespace tutti
