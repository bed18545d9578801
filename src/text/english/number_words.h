#pragma once

#include <string>
#include <string_view>

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
  std::string value;   // the number in figures, or the sign
  std::string suffix;  // "th", "s", ...
};

/// What the word means in a number; nullptr for words that mean nothing there.
const NumberWord* number_word(std::string_view word);

}  // namespace tutti
