#pragma once

namespace tutti {

/// Prints name, version and build id of this program and of the engine it would start; returns the exit code. An engine
/// of another build, or none, is said.
int print_versions();

}  // namespace tutti
