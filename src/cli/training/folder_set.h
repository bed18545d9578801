#pragma once

#include <filesystem>

#include "base/error.h"

namespace tutti {

/// The set that a classifier is trained on. `data` that is a set stays; its file for training names it, too. Labelled
/// recordings, in folders or a list as for `tutti prepare classifier`, are prepared by its defaults into OUT/set; a
/// training that goes on (`resumes`) takes the one that is there. Reports on standard error. Errors: those of
/// build_labelled_set; Fault::cancelled after an interruption, and the same command goes on from there.
Result<std::filesystem::path> classifier_set(const std::filesystem::path& data, const std::filesystem::path& out,
                                             bool resumes);

}  // namespace tutti
