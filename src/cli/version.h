#pragma once

#include <string>

#include "base/error.h"

namespace tutti {

/// What `tutti-engine --version` prints: "tutti-engine <build id>". Errors say where the engine was looked for.
Result<std::string> engine_version();

/// Prints name, version and build id of this program and of the engine it would start; returns the exit code. A
/// differing build of the engine, or a missing one, is reported.
int print_versions();

}  // namespace tutti
