#pragma once

#include <span>

#include "train/evaluation/evaluate_model.h"

namespace tutti {

/// The command lines `train KIND ...`, `classify ...`, `say ...`, `evaluate-classifier ...`, `plan-training ...` and
/// `evaluate ...`, after the first word; `tutti` writes them. Returns the exit code. `choose` maps a compute type's
/// name to its type.
int train_command(std::span<char*> arguments);
int classify_command(std::span<char*> arguments);
int say_command(std::span<char*> arguments);
int evaluate_classifier_command(std::span<char*> arguments);
int evaluate_voice_command(std::span<char*> arguments);
int plan_training_command(std::span<char*> arguments);
int evaluate_command(std::span<char*> arguments, const ChooseComputeType& choose);

}  // namespace tutti
