#pragma once

#include <span>

namespace tutti {

/// The command lines `train whisper ...` and `evaluate ...`, after the first word; `tutti` writes them. Returns the
/// exit code.
int train_command(std::span<char*> arguments);
int evaluate_command(std::span<char*> arguments);

}  // namespace tutti
