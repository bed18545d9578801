#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "feed/voice/voice_file.h"

namespace tutti {

/// The arguments of `tutti-engine evaluate-voice`.
struct VoiceEvaluationRequest {
  std::filesystem::path model{};
  std::filesystem::path data{};  // a set of 'tutti prepare tts'
  VoicePart part = VoicePart::validation;
  std::int32_t samples = 0;  // clips at most, spread evenly over the part; 0: all
  std::string device = "cpu";
  std::int32_t threads = 0;        // 0: one per core
  std::string speaker{};           // of the voice, for every clip; empty: each clip's own
  std::filesystem::path report{};  // .html: every clip with spectrograms and players; .svg: some spectrograms; empty
};

/// How far a voice's speech is from recordings: means over clips.
struct VoiceMeasures {
  std::int64_t clips = 0;
  double cepstral = 0;       // mel cepstral distance, dB
  double pitch_cents = 0;    // of frames without a gross error
  double gross_share = 0;    // of frames voiced in both: more than 20 % off
  double voicing_share = 0;  // of frames: voiced in one alone
  double duration_ms = 0;    // of a symbol, beside the search in the recording
  double length_ratio = 0;   // of the speech to the recording
};

/// Has a voice speak the texts of a set's clips, and compares its audio with theirs along the best alignment
/// (audio/voice/speech_distance.h). Fault::missing where the model or the set is not there, Fault::usage where they do
/// not fit each other, the voice lacks a speaker, or the part is empty.
Result<VoiceMeasures> evaluate_voice(const VoiceEvaluationRequest& request);

/// On one line for people, and as a JSON object; neither ends the line.
std::string measures_text(const VoiceMeasures& measures);
std::string measures_json(const VoiceMeasures& measures);

}  // namespace tutti
