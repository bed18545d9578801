#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audio/recording.h"
#include "cli/prepare/known_text.h"
#include "cli/prepare/text_unit.h"
#include "transcribe/start/worker_start.h"

namespace tutti {

struct PrepareRules {
  std::optional<double> window{};  // seconds a piece lasts at most; none: what the model hears
  double least_score = 0.4;        // mean probability of a unit's words
};

/// A recording cut into pieces.
struct PreparedRecording {
  Recording recording;
  std::string language{};
  std::vector<PreparedPiece> pieces{};
  std::vector<TextUnit> refused{};
};

/// Aligns the text of a recording with it and cuts both. Text without times is laid over what the model hears first.
/// `options`: those the worker was started with. Blocks. Fault::cancelled where the worker was stopped.
Result<PreparedRecording> prepare_recording(const std::filesystem::path& path, const KnownText& text,
                                            const LoadedWorker& worker, const RunOptions& options,
                                            const PrepareRules& rules);

}  // namespace tutti
