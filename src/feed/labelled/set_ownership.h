#pragma once

#include <filesystem>

#include "base/error.h"

namespace tutti {

/// Checks that a set may be written into `out`: of the files there that have a name of a set's file, only those are
/// replaced that an earlier build wrote. Those are data sets with checksums of their rows, lists of files that were
/// left out, and features of a build that was interrupted. Files of no bytes count as absent.
///
/// Fault::usage for one that another program or a person wrote. Thread-safe.
Result<void> expect_own_set_files(const std::filesystem::path& out);

}  // namespace tutti
