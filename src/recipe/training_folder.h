#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"

namespace tutti {

// What is checked of the folder OUT of a training before it begins, so that nothing of the user's is written over.

/// Checks that a training in `out` can go on from `checkpoint`, which was named: it has to be its newest.
Result<void> expect_newest_checkpoint(const std::filesystem::path& out, const std::filesystem::path& checkpoint);

/// Checks that nothing of OUT replaces what the training reads (`sources`; empty paths are none), or a model that is
/// not its own. `resumes`: it goes on, and may read the settings that it wrote.
Result<void> expect_training_folder(const std::filesystem::path& out, std::vector<std::filesystem::path> sources,
                                    bool resumes);

/// Checks that no training learns from a set in OUT, so that one may be made there: none has checkpoints in it, and
/// none is running. Fault::usage and Fault::refused where one does.
Result<void> expect_set_unused(const std::filesystem::path& out);

}  // namespace tutti
