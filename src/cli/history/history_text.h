#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/history.h"

namespace tutti {

/// What the store remembers, read at once. Runs are latest first, the rest oldest first.
struct History {
  std::vector<RunRecord> runs{};
  std::vector<SpeedRecord> speeds{};  // every record
  std::vector<DeviceEvent> events{};
  std::optional<JobCounts> now{};  // of the one run that was requested: how many of its output folder's recordings are
                                   // in each state
};

/// Tables for a terminal of `width` columns: runs, what each device did in them, speeds now against the first, and the
/// latest events.
std::vector<std::string> history_tables(const History& history, std::size_t width);

/// One JSON object: {"schema": 1, "runs": [...], "speeds": [...], "events": [...], "recordings_now": {...}}, units in
/// names, absent is null.
std::string history_json(const History& history);

/// The speed of every device, and of every run as a whole, over time.
std::string history_svg(const History& history);

}  // namespace tutti
