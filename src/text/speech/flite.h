#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "text/speech/grapheme_rules.h"

namespace tutti {

/// A sound of flite's, in its own names ("hh", "ax", "pau"), and when it ends.
struct FlitePhone {
  std::string name{};
  Seconds end{};
};

/// What flite makes of a text.
struct FliteSpeech {
  Hertz rate{};
  std::vector<std::int16_t> pcm{};
  std::vector<FlitePhone> phones{};
};

/// CMU's speech synthesiser flite with its voice slt, loaded on first use. Thread-safe: one text at a time.
class Flite {
 public:
  /// Fault::missing names the library, and how it comes onto the machine.
  static Result<const Flite*> load();
  ~Flite();

  /// Its trees for words that no dictionary has.
  Result<GraphemeRules> grapheme_rules() const;
  /// English text read by slt at 16 kHz. Fault::usage for text of which it makes nothing.
  Result<FliteSpeech> speak(const std::string& text) const;

 private:
  struct Library;
  Flite();
  std::unique_ptr<Library> library_;
};

}  // namespace tutti
