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

/// When all of a text is spoken.
struct SpeechTimes {
  std::vector<TimedPart> sentences{};
  std::vector<TimedPart> words{};
  std::vector<TimedPart> symbols{};  // phonemes, or characters; not silence and gaps

  /// A sentence that begins `start` seconds into the audio; `frame`: seconds of a frame.
  void add(const std::string& sentence, const Speech& speech, const std::vector<std::string>& symbols_by_number,
           double start, double frame);
};

/// {"sentences": [{"text","start","end"}], "words": ..., "symbols": ...}
std::string times_json(const SpeechTimes& times);
/// A subtitle for each word.
std::string times_srt(const SpeechTimes& times);

}  // namespace tutti
