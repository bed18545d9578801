#pragma once

#include <span>

#include "worker/worker.h"

namespace tutti {

/// The command line `worker --fd N`, after the word "worker": makes this process the worker of its parent, dying with
/// it. Returns the exit code; 2 with a message on standard error where the line cannot be intended. `setup` holds what
/// the line does not.
int worker_command(std::span<char*> arguments, WorkerSetup setup);

}  // namespace tutti
