#pragma once

#include <string>
#include <vector>

namespace tutti {

/// Runs `tutti-engine` with these arguments at our terminal until it ends; its output and errors are ours. SIGINT and
/// SIGTERM that only we were sent are handed on. Returns its exit code; where it died or could not be started,
/// kNothingRan with a message that says what it was `doing`.
int run_engine(const std::vector<std::string>& arguments, const std::string& doing);

}  // namespace tutti
