#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
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

/// The command line `worker --fd N [--names fields]`, after the word "worker": makes this process the worker of its
/// parent, dying with it. Returns the exit code; 2 with a message on standard error where the line cannot be intended.
/// `setup` holds what the line does not.
int worker_command(std::span<char*> arguments, WorkerSetup setup);

/// How fast a device is at the two things a Whisper consists of, measured by running them.
struct DevicePeak {
  double flops = 0;      // a second, in a large product of matrices: the fastest way there is for the compute type
  double bandwidth = 0;  // bytes a second, reading memory
};

/// `compute_type` as LoadModel names it. Takes about a second. Fault::unsupported for a type that there is not.
Result<DevicePeak> measure_peak(c10::Device device, const std::string& compute_type);

/// `tutti-engine limits --model PATH --device cpu|cuda:N --compute-type T --threads N`: prints what bounds that model
/// there, a name and a number a line, bytes already those of the compute type. No threads, or 0: one per core. Returns
/// the exit code.
int limits_command(std::span<char*> arguments);

}  // namespace tutti
