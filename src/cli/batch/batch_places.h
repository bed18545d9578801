#pragma once

#include <filesystem>

#include "base/error.h"

namespace tutti {

// Where a batch writes, looked at before the work: better known then than behind it.

/// That the report can be written; none is asked for where `report` is empty.
Result<void> expect_report(const std::filesystem::path& report);

/// That files can be made in the output folder, which a batch makes when it is missing, and that recordings can be
/// decoded to the temporary one, which nobody makes.
Result<void> expect_places(const std::filesystem::path& outputs);

}  // namespace tutti
