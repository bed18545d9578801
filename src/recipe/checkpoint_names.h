#pragma once

#include <string_view>

namespace tutti {

// Names in OUT and OUT/checkpoints, for both programs: the one that writes a checkpoint, and the one that goes on from
// it.

/// A checkpoint: "step-00000012", and sorted by name also by step.
inline constexpr std::string_view kStepPrefix = "step-";
/// In front of such a name: what a training had come to when it gave up.
inline constexpr std::string_view kStoppedPrefix = "stopped-";

/// In OUT: held by the training that fills it, and left there. A folder that has it is a training's.
inline constexpr std::string_view kTrainingLock = "training.lock";
/// In OUT: the first of a classifier's two stages, a training of its own.
inline constexpr std::string_view kScreenFolder = "screen";

}  // namespace tutti
