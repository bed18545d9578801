#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "jobs/history.h"
#include "jobs/store_url.h"

namespace tutti {

/// What the store remembers, read at once. Runs are latest first, the rest oldest first. It is what `tutti history`
/// prints, and what the page of the service draws: past runs with what each device did in them, how fast the devices
/// were, and what happened to them.
struct History {
  std::vector<RunRecord> runs{};      // those that are in work have no end yet
  std::vector<SpeedRecord> speeds{};  // every record
  std::vector<DeviceEvent> events{};
  std::optional<JobCounts> now{};  // counts of the one run that was requested: how many of its output folder's
                                   // recordings are in each state
};

// The text form of the same is `history_tables` (serve/dashboard/history_text.h), and its picture `history_svg` there.
// All of them but read_history are pure.

/// One JSON object: {"schema": 1, "runs": [...], "speeds": [...], "events": [...], "recordings_now": {...}}, units in
/// names, absent is null. Programs read it from `tutti history --json` and from /api/history: a field may be added, and
/// what would break a reader counts "schema" up. Bytes of names that are no UTF-8 are kept (text/json_bytes.h).
std::string history_json(const History& history);

/// {"queued": N, "running": N, "done": N, "failed": N, "cancelled": N, "held": N}.
nlohmann::ordered_json counts_json(const JobCounts& jobs);

/// Leaves out what only those with a token may see: commands, folders, models and the texts of events.
void hide_names(History& history);

/// Reads what the store remembers of its `last` runs; of `run` alone, with all events of its devices and what became of
/// its recordings, where that is named. Nothing where there is no store, and makes none. Fault::usage where there is no
/// such run.
Result<History> read_history(const StoreUrl& url, std::size_t last, std::optional<std::int64_t> run);

}  // namespace tutti
