#include "audio/synth/morse_code.h"

#include <algorithm>
#include <array>

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
  Key(const Hand& hand, CounterRandom& random) : unit_(1.2 / hand.wpm), jitter_(hand.jitter), random_(random) {}

  double now() const { return now_; }
  void mark(double units, KeyedText& keyed) {
    const double start = now_;
    wait(units);
    keyed.downs.push_back({start, now_});
  }
  void wait(double units) {
    const double wobble = jitter_ > 0 ? jitter_ * random_.normal() : 0;
    now_ += unit_ * std::max(units + wobble, units / 2);
  }

 private:
  double unit_;
  double jitter_;
  CounterRandom& random_;
  double now_ = 0;
};

void key_letter(std::string_view pattern, Key& key, KeyedText& keyed) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i > 0) key.wait(1);
    key.mark(pattern[i] == '-' ? 3 : 1, keyed);
  }
}

void key_word(std::string_view word, Key& key, KeyedText& keyed) {
  KeyedWord made{{}, key.now(), key.now()};
  for (const char symbol : word) {
    const std::string_view pattern = morse_pattern(symbol);
    if (pattern.empty()) continue;
    if (!made.text.empty()) key.wait(3);
    if (made.text.empty() && !keyed.words.empty()) key.wait(7);
    if (made.text.empty()) made.start = key.now();
    const double start = key.now();
    key_letter(pattern, key, keyed);
    made.letters.push_back({start, key.now()});
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
