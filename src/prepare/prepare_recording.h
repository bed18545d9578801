#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "prepare/known_text.h"
#include "prepare/prepare_inputs.h"
#include "prepare/text_unit.h"
#include "transcribe/file_transcription.h"

namespace tutti {

struct PrepareRules {
  std::optional<double> window{};  // seconds a piece lasts at most; none: the model's window
  double least_score = 0.4;        // mean probability of a unit's words
  AudioChoice audio{};             // which track and channel of each recording
};

/// A recording and its written text.
struct KnownRecording {
  Recording recording;
  KnownText text{};
  float maximum = 0;      // LogMel::maximum of the recording
  std::string made_of{};  // stamp_of_sources() before they were read
  Seconds decoding{};     // what reading it took
};

/// A recording cut into pieces.
struct PreparedRecording {
  Recording recording;
  std::string language{};
  std::string made_of{};  // as KnownRecording's
  std::vector<PreparedPiece> pieces{};
  std::vector<TextUnit> refused{};
  TimeSpent spent{};  // until it was cut
};

/// Decodes a recording and reads its text, from its rows or from where known_text() looks. Fault::corrupt where a part
/// of it could not be decoded; Fault::cancelled where `on_decoded` requests that. Blocks; callable from several threads
/// at once.
Result<KnownRecording> known_recording(const PrepareInput& input, const std::filesystem::path& texts,
                                       const LogMel& log_mel, const AudioChoice& audio, const OnDecoded& on_decoded);

/// Aligns the text of a recording with it and cuts both. Text without times is first matched with what the model
/// decodes. Blocks; callable from several threads at once. Fault::cancelled where the worker was stopped.
Result<PreparedRecording> prepare_recording(KnownRecording known, const TranscriptionContext& context,
                                            const PrepareRules& rules);

}  // namespace tutti
