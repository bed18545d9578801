#pragma once

#include "device/telemetry/machine_snapshot.h"
#include "view/top/top_data.h"

namespace tutti {

/// What `tutti top` shows of a machine on which no batch runs. Pure.
TopData machine_view(const MachineSnapshot& snapshot, Clock::Instant now);

/// Adds what telemetry knows (loads, memory, power, processes, details) to the devices of a run, found by UUID.
void add_telemetry(TopData& run, const MachineSnapshot& snapshot, Clock::Instant now);

}  // namespace tutti
