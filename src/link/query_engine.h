#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/child_output.h"

namespace tutti {

/// Runs `tutti-engine` with `arguments` and yields what it wrote to standard output, its standard error being ours.
/// `environment` is added to ours. Blocks. Fault::missing where there is no engine, else the errors of child_output.
Result<std::string> query_engine(const std::vector<std::string>& arguments,
                                 const std::vector<std::pair<std::string, std::string>>& environment,
                                 const OutputLimits& limits);

/// What `tutti-engine --version` prints: "tutti-engine <build id>". Errors say where the engine was looked for.
Result<std::string> engine_version();

}  // namespace tutti
