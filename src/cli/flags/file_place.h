#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tutti {

/// That a file can be written where a flag ("--report") wants it, as far as that can be told without writing it: better
/// known before hours of work than behind them. True of no file at all. What is there already, a pipe too, is opened
/// when it is written.
Result<void> expect_file_place(const std::string& flag, const std::filesystem::path& file);

}  // namespace tutti
