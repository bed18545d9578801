#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// A language that a model knows.
struct LanguageProbability {
  std::string code{};  // "en"
  double probability = 0;
  bool operator==(const LanguageProbability&) const = default;
};

/// What a recording is transcribed in. It is detected in its first window, once, unless a caller has named it; a model
/// that knows English alone detects nothing.
struct SpokenLanguage {
  LanguageProbability language{};          // its probability is 1 where it was named, or the model knows no other
  std::vector<LanguageProbability> all{};  // of those the model knows, the most probable first; empty: not detected
};

/// What is known of a recording before its first segment.
struct RecordingFacts {
  Seconds duration{};       ///< of its audio
  Seconds speech{};         ///< of it that is transcribed: without VAD all of it
  SpokenLanguage spoken{};  ///< the language it is transcribed in
};

/// Called once the language is known, before any text. From any thread.
using OnLanguage = std::function<void(const SpokenLanguage& spoken)>;

}  // namespace tutti
