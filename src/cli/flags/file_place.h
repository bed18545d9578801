#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tutti {

/// Checks that write_file_atomically can write a file where a flag ("--report") wants it, as far as that can be found
/// out without writing it: better known before hours of work than behind them. One that is there already is replaced,
/// so its folder counts, too; a pipe is only opened when it is written. An empty path passes.
Result<void> expect_output_file(const std::string& flag, const std::filesystem::path& file);

}  // namespace tutti
