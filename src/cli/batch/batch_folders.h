#pragma once

#include <filesystem>

#include "base/error.h"

namespace tutti {

/// That files can be made in the output folder, which a batch makes when it is missing, and that recordings can be
/// decoded to the temporary one, which nobody makes: better known before the work than behind it.
Result<void> expect_output_folders(const std::filesystem::path& outputs);

}  // namespace tutti
