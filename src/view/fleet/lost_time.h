#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/fleet/run_report.h"

namespace tutti {

/// One reason for idleness: its field, its name for people, and what it means to the user.
struct LostKind {
  Seconds IdleTime::*time;
  std::string_view name;     // "waiting for input"
  std::string_view finding;  // "decoding limits"
  std::string_view advice;   // what would help; empty: nothing is wrong with it
};
/// What a finding begins with; then comes what it is about, and with its share of the time.
inline constexpr std::string_view kFindingStart = "What limits the run: ";

/// All reasons, in the order of IdleTime.
std::span<const LostKind> lost_kinds();

/// Audio seconds per second that the device did while it was busy; none where it did nothing.
std::optional<double> measured_speed(const DeviceTime& device);

/// What the device can do: as rated, else as measured; none where it never worked and is not rated.
std::optional<double> speed_of(const DeviceTime& device);

/// Time in which a busy device would have done what it fell short of its rating; 0 without one.
Seconds shortfall(const DeviceTime& device);

/// What kept a run from its bound: names and shares of what the devices can do, the largest first. With work_bound over
/// the run's length they add up to 1.
std::vector<std::pair<std::string, double>> losses_of(const RunNumbers& run);

/// Work over the devices' speeds, Σd/Σs; 0 where no speed is known.
Seconds work_bound(const RunNumbers& run);

}  // namespace tutti
