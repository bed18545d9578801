#include "audio/synth/morse_code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 26> kLetters{
    ".-", "-...", "-.-.", "-..",  ".",   "..-.", "--.", "....", "..",   ".---", "-.-",  ".-..", "--",
    "-.", "---",  ".--.", "--.-", ".-.", "...",  "-",   "..-",  "...-", ".--",  "-..-", "-.--", "--.."};
constexpr std::array<std::string_view, 10> kDigits{"-----", ".----", "..---", "...--", "....-",
                                                   ".....", "-....", "--...", "---..", "----."};

/// A position in time that every mark and gap advances.
class Key {
 public:
  Key(const Hand& hand, CounterRandom& random) : hand_(hand), unit_(1.2 / hand.wpm), random_(random) {}

  double now() const { return now_; }
  void mark(bool is_dash, KeyedText& keyed) {
    const double start = now_;
    wait((is_dash ? hand_.dash : 1) + hand_.weight, !is_dash && hand_.steady_dots);
    keyed.downs.push_back({start, now_});
    after_dot_ = !is_dash;
  }
  void wait_in_character() { wait(1 - hand_.weight, after_dot_ && hand_.steady_dots); }
  void wait_for_character() { wait(hand_.character_gap, false); }
  void wait_for_word() { wait(hand_.word_gap, false); }

 private:
  void wait(double units, bool is_steady) {
    const double wobble = hand_.jitter > 0 && !is_steady ? hand_.jitter * random_.normal() : 0;
    const double speed = 1 + hand_.wander * std::sin(2 * std::numbers::pi * now_ / kWanderSeconds);
    now_ += unit_ / speed * std::max(units + wobble, units / 2);
  }

  static constexpr double kWanderSeconds = 8;
  Hand hand_;
  double unit_;
  CounterRandom& random_;
  bool after_dot_ = false;
  double now_ = 0;
};

void key_letter(std::string_view pattern, Key& key, KeyedText& keyed) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i > 0) key.wait_in_character();
    key.mark(pattern[i] == '-', keyed);
  }
}

void key_word(std::string_view word, Key& key, KeyedText& keyed) {
  KeyedWord made{{}, key.now(), key.now()};
  const bool is_prosign = word.starts_with('^');
  for (const char symbol : word) {
    const std::string_view pattern = morse_pattern(symbol);
    if (pattern.empty()) continue;
    if (!made.text.empty() && is_prosign)
      key.wait_in_character();
    else if (!made.text.empty())
      key.wait_for_character();
    if (made.text.empty() && !keyed.words.empty()) key.wait_for_word();
    if (made.text.empty()) made.start = key.now();
    const double start = key.now();
    key_letter(pattern, key, keyed);
    made.symbols.push_back({start, key.now()});
    made.text += symbol;
  }
  made.end = key.now();
  if (!made.text.empty()) keyed.words.push_back(std::move(made));
}

}  // namespace

std::string_view morse_pattern(char symbol) {
  if (symbol >= 'A' && symbol <= 'Z') return kLetters[static_cast<std::size_t>(symbol - 'A')];
  if (symbol >= '0' && symbol <= '9') return kDigits[static_cast<std::size_t>(symbol - '0')];
  switch (symbol) {
    case '?': return "..--..";
    case '/': return "-..-.";
    case '.': return ".-.-.-";
    case ',': return "--..--";
    case '=': return "-...-";
    default: return {};
  }
}

Hand drawn_hand(double wpm, CounterRandom& random) {
  Hand hand{.wpm = wpm, .jitter = random.uniform(0.05, 0.25)};
  hand.steady_dots = random.chance(0.4);
  hand.dash = hand.steady_dots ? random.uniform(2.7, 4.5) : random.uniform(2.5, 3.8);
  hand.weight = random.uniform(-0.25, 0.35);
  const bool is_spaced = random.chance(0.25);  // Farnsworth's: fast characters, long gaps
  hand.character_gap = is_spaced ? random.uniform(4, 8) : random.uniform(2.5, 3.8);
  hand.word_gap = hand.character_gap * random.uniform(2, 3);
  hand.wander = random.uniform(0, 0.12);
  return hand;
}

KeyedText key_text(std::string_view text, const Hand& hand, CounterRandom& random) {
  KeyedText keyed;
  Key key(hand, random);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    key_word(text.substr(at, end - at), key, keyed);
    at = end + 1;
  }
  return keyed;
}

}  // namespace tutti
