#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/fleet/fleet_status.h"
#include "view/table.h"
#include "view/terminal_text.h"

namespace tutti {

// What the live table of a batch and `tutti top` share. All pure.

/// Done, bar with the time left, audio per time, and why nothing new is begun: at most four lines.
std::vector<std::string> total_lines(const FleetStatus& status, const Screen& screen);

/// Device, state, jobs, loads, memory, speed, busy share, power, temperature: the least important last. Without a run
/// there are no jobs, speeds and busy shares; what is known of no device has no column.
TextTable device_table(const std::vector<DeviceStatus>& devices, bool of_run = true);
/// Name, bar, position, device or what it waits for.
TextTable job_table(const std::vector<JobStatus>& jobs);

/// "8:40 ± 1:10 left", "8:40 left", or nothing where it is not known.
std::string left_text(const FleetStatus& status);
/// "back-off after 3 failures, for 0:12".
std::string reason_text(const DeviceStatus& device);

Tint tint_of(Concern concern);

}  // namespace tutti
