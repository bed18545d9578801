#pragma once

#include <span>

#include "train/evaluation/evaluate_model.h"

namespace tutti {

/// The command lines `train whisper ...` and `evaluate ...`, after the first word; `tutti` writes them. Returns the
/// exit code. `choose` says what a compute type's name means.
int train_command(std::span<char*> arguments);
int evaluate_command(std::span<char*> arguments, const ChooseComputeType& choose);

}  // namespace tutti
