#pragma once

#include <string>

#include "cli/doctor/findings.h"
#include "device/telemetry/machine_snapshot.h"
#include "device/topology/topology.h"

namespace tutti {

/// The whole report for machines, version 1: findings, GPUs as they are, who is near whom. What is absent has no key.
std::string doctor_json(const Findings& findings, const MachineSnapshot& snapshot, const Topology& topology);

}  // namespace tutti
