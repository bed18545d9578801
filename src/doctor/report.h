#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "device/telemetry/machine_snapshot.h"
#include "device/topology/topology.h"
#include "doctor/findings.h"

namespace tutti {

/// What was found on this machine, in the order of its report.
struct DoctorReport {
  Findings findings{};
  std::shared_ptr<const MachineSnapshot> snapshot{};
  Result<Topology> topology{};  ///< empty where the driver was not queried for it
};

/// Looks at programs and libraries, processor, limits, driver, GPUs and their links, disks, the store in `state` and
/// the models. Takes a second, eight at most where the driver has to wake. Blocks.
DoctorReport examine_machine(const std::filesystem::path& state);

/// The metrics of the machine and of this user's batches that run and answer, as Prometheus scrapes them. Blocks as
/// above.
std::string machine_metrics(const std::filesystem::path& state);

/// The whole report for machines, version 1: findings, GPUs as they are, who is near whom. What is absent has no key.
std::string doctor_json(const Findings& findings, const MachineSnapshot& snapshot, const Topology& topology);

}  // namespace tutti
