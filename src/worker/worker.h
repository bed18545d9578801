#pragma once

#include <optional>
#include <string>

#include "base/owned.h"
#include "worker/fault_injection.h"
#include "worker/network.h"

namespace tutti {

struct WorkerSetup {
  std::string build_id{};  // sent in the hello
  ModelLoader load{};      // where models come from; none: from disk, by load_model
  std::optional<InjectedFault> fault{};
};

/// Serves one control process over `socket` until it hangs up or sends what cannot be parsed, which is logged; returns
/// the exit code of the process: 0, or 1 where the device was lost. Uses two threads: this one makes all torch calls, a
/// second one reads the socket and answers Ping at once.
int run_worker(OwnedFd socket, const WorkerSetup& options);

}  // namespace tutti
