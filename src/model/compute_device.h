#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// What a thread computes with: without GPUs, two sets of cores are the two devices of a training.
struct ThreadCores {
  std::vector<int> cores{};  // that it may run on, by the system's numbers; empty: all of the process's
  int threads = 0;           // of its loops; 0: as many as the process has set
  bool operator==(const ThreadCores&) const = default;
};

/// A device that a training computes on, and of a processor the part of it.
struct ComputeDevice {
  at::Device device = at::kCPU;
  ThreadCores cores{};  // of a GPU, and of the whole processor, nothing is set
};

/// The device of a name as device_named takes it, or the cores of "cpu:0", "cpu:0-3" and "cpu:0-3,8": as many threads
/// as cores. Fault::usage where the name is none of these; Fault::missing where this process does not see such a
/// device, or may not use such a core, with what there is.
Result<ComputeDevice> compute_device_named(const std::string& name);

/// From now on the calling thread, and threads that it starts, run on these cores alone, and torch's loops in it, and
/// in threads that begin to use torch later, take so many threads. What is not set stays as it is.
void use_cores(const ThreadCores& cores);

}  // namespace tutti
