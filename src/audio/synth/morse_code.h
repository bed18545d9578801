#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random/counter_random.h"

namespace tutti {

/// Dots and dashes of an upper-case letter, digit or sign (ITU-R M.1677-1); empty for what has none.
std::string_view morse_pattern(char symbol);

/// The key is down, or a letter is keyed, in seconds from the first one.
struct KeyDown {
  double start = 0;
  double end = 0;
};

/// A word as it was keyed, in seconds from the first key-down.
struct KeyedWord {
  std::string text;
  double start = 0;
  double end = 0;
  std::vector<KeyDown> symbols{};  ///< from the first mark's start to the last one's end, for each symbol of the text
};

struct KeyedText {
  std::vector<KeyDown> downs{};
  std::vector<KeyedWord> words{};

  double length() const { return downs.empty() ? 0 : downs.back().end; }
};

/// How an operator keys. A unit is 1.2 s / wpm long: PARIS, with the 7 units after it, is 50 of them.
struct Hand {
  double wpm = 20;
  /// Standard deviation of every mark and gap, as a share of a unit; none becomes shorter than half.
  double jitter = 0;
  double weight = 0;  ///< units that every mark is too long, and the gap behind it within a character too short
  double dash = 3;    ///< units
  double character_gap = 3, word_gap = 7;  ///< units; Farnsworth's spacing has longer ones
  double wander = 0;                       ///< the share by which speed rises and falls, once in 8 s
  bool steady_dots = false;                ///< a bug makes dots and the gaps behind them: without jitter
};

/// A straight key or a bug, as one operator has it in the hand.
Hand drawn_hand(double wpm, CounterRandom& random);

/// Words with single spaces between them: 1 unit between the marks of a character, all else as the hand has it, never
/// more. Characters are run together to a prosign where the word begins with '^', which is not in the keyed text.
/// Other symbols without a pattern are left out.
KeyedText key_text(std::string_view text, const Hand& hand, CounterRandom& random);

}  // namespace tutti
