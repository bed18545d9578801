#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/voice/voice_builder.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// What transcribes the clips of a voice, so that their words can be compared with their texts.
struct ClipRecogniser {
  std::filesystem::path model{};  ///< a Whisper model, found
  std::string language = "en";
  std::int32_t threads = 0;  ///< 0: one per core
};

/// The text of each clip, greedily and at temperature 0 alone; none for a clip that cannot be read, whose own check
/// names the reason. Clips that are parts of longer recordings are cut out into a temporary folder first. `progress`:
/// clips done and clips in all, from one thread at a time. Fault::cancelled once `stop` is raised; any other error is
/// the machine's or the model's. Blocks.
Result<ClipTexts> transcribe_clips(const ClipRecogniser& recogniser, std::span<const VoiceSource* const> clips,
                                   StopSignal& stop, const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace tutti
