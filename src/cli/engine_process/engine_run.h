#pragma once

#include <string>
#include <vector>

#include "link/training_processes.h"

namespace tutti {

/// Runs the engines until all have ended; their output and errors are ours. SIGINT and SIGTERM that only we were sent
/// are passed on. What fails ends the others, whose checkpoints are whole. Returns the exit code of the one that
/// failed, else that of an interruption, else kDone; where one died or could not be started, kNothingRan with a message
/// that names what it was `doing`.
int run_engines(const std::vector<EngineRun>& runs, const std::string& doing);

/// The same for one.
int run_engine(const std::vector<std::string>& arguments, const std::string& doing);

}  // namespace tutti
