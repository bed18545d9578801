#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "view/fleet/run_report.h"

namespace tutti {

/// One reason for idleness: its field, its name for people, and what it means to the user.
struct LostKind {
  Seconds IdleTime::*time;
  std::string_view name;     // "waiting for input"
  std::string_view verdict;  // "decoding limits"
  std::string_view advice;   // what would help; empty: nothing is wrong with it
};
/// All reasons, in the order of IdleTime.
std::span<const LostKind> lost_kinds();

/// Audio seconds per second of the device at work; none where it never worked and nobody said.
std::optional<double> speed_of(const DeviceTime& device);

/// Work over the devices' speeds, Σd/Σs; 0 where no speed is known.
Seconds work_bound(const RunNumbers& run);

}  // namespace tutti
