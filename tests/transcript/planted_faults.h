#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/seeds.h"
#include "transcript/doubt/doubt.h"

namespace tutti {

/// A transcript with where speech really is, and what was done to it.
struct PlantedRecording {
  Transcript transcript;
  std::vector<SpeechSegment> speech;
  struct Fault {
    DoubtKind kind;
    double start;
    double end;
    bool own = false;  // Whisper's, not planted
  };
  std::vector<Fault> faults{};
};

/// The recordings of tests/data/transcript/doubt_recordings.json.
class RealRecordings {
 public:
  RealRecordings();

  /// Clips of real speech in a row with short pauses, their texts as transcripts with the numbers of a good one;
  /// English from two corpora, and one clip each of eight languages.
  const std::vector<PlantedRecording>& read() const { return read_; }
  /// What openai-whisper wrote for the shared clips, with its own numbers.
  const std::vector<PlantedRecording>& whisper() const { return whisper_; }

 private:
  std::vector<PlantedRecording> read_;
  std::vector<PlantedRecording> whisper_;
};

/// Plants one fault of a kind into a segment, as Whisper makes it. False where the segment does not lend itself.
bool plant(PlantedRecording& recording, DoubtKind kind, const std::vector<PlantedRecording>& others, Dice& dice);

/// Changes the recording in a way that looks like a fault and is none: a speaker who repeats himself, a spoken
/// farewell, a long silence, times that are half a second off, scores of a hard but right window, a word left out.
void plant_decoy(PlantedRecording& recording, Dice& dice);

}  // namespace tutti
