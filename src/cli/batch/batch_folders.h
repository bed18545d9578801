#pragma once

#include <filesystem>

#include "base/error.h"

namespace tutti {

/// Checks that files can be made in the output folder, which a batch makes when it is missing, and that recordings can
/// be decoded to the temporary one, which Tutti does not make: better known before the work than behind it.
Result<void> expect_output_folders(const std::filesystem::path& outputs);

}  // namespace tutti
