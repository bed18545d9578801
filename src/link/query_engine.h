#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// Runs `tutti-engine` with `arguments` and yields what it wrote to standard output, its standard error being ours.
/// `environment` is added to ours. Blocks. Fault::missing where there is no engine, Fault::device with how it ended
/// when it failed, or was not done `within` that time and was killed.
Result<std::string> query_engine(const std::vector<std::string>& arguments,
                                 const std::vector<std::pair<std::string, std::string>>& environment, Seconds within);

}  // namespace tutti
