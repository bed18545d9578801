#pragma once

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/units.h"
#include "device/telemetry/machine_snapshot.h"
#include "device/topology/topology.h"
#include "doctor/findings.h"

namespace tutti {

// What the doctor looks at, in the order of its report. Each adds what it finds; none fails.

/// tutti-engine, of the same build, and the libraries that are loaded on first use.
void check_programs(Findings& findings);
/// Processor, memory and NUMA nodes.
void check_processor(Findings& findings);

/// The most a process may have: open files, locked memory, and the control group's bounds.
struct ProcessLimits {
  std::optional<std::uint64_t> open_files{}, most_open_files{};  ///< absent: no limit
  std::optional<Bytes> locked_memory{};                          ///< absent: no limit
  static ProcessLimits of_this_process();
};
void check_limits(const ProcessLimits& limits, Findings& findings);

/// Driver, library and the GPUs as sampled; `root` is "/" but in tests.
void check_gpus(const MachineSnapshot& snapshot, Findings& findings, const std::filesystem::path& root = "/");
/// The CUDA that the driver can run and whether our engine has its CUDA half, where there are GPUs.
void check_cuda(const std::optional<std::string>& driver_cuda, Findings& findings);
void check_topology(const Result<Topology>& topology, Findings& findings);

/// Free space where files are decoded to and models are kept.
void check_disks(Findings& findings);

/// A folder that Tutti writes to, or will.
struct FolderFacts {
  std::filesystem::path path{};
  Result<Bytes> free{Bytes{}};
  bool writable = true;                     ///< by us, and what is in it
  std::optional<std::string> on_network{};  ///< the kind of a file system of other machines, where it is on one
  static FolderFacts of(const std::filesystem::path& path);
};
/// The store of batches: must be ours to write to and on a disk of this machine.
void check_state(const FolderFacts& state, Findings& findings);
void check_models(Findings& findings);

}  // namespace tutti
