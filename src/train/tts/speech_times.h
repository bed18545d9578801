#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "train/tts/voice.h"

namespace tutti {

/// When something is spoken, in seconds of the whole utterance.
struct TimedPart {
  std::string text{};
  double start = 0;
  double end = 0;
};

/// Where a sentence is in the audio, in seconds.
struct SpokenAt {
  double start = 0;  ///< its first frame, which may be cut off: then it is before `from`
  double from = 0;   ///< of what the audio has of it, silence before it included
  double until = 0;
  double frame = 0;  ///< length of a frame
};

/// When all of a text is spoken.
struct SpeechTimes {
  std::vector<TimedPart> sentences{};
  std::vector<TimedPart> words{};
  std::vector<TimedPart> symbols{};  // phonemes, or characters; not silence and gaps

  /// A sentence that was spoken. What of it the audio does not have begins or ends at its edge.
  void add(const std::string& sentence, const Speech& speech, const std::vector<std::string>& symbols_by_number,
           const SpokenAt& at);
};

/// {"sentences": [{"text","start","end"}], "words": ..., "symbols": ...}
std::string times_json(const SpeechTimes& times);
/// A subtitle for each word.
std::string times_srt(const SpeechTimes& times);

}  // namespace tutti
