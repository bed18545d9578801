#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "jobs/job.h"
#include "serve/access.h"
#include "serve/dashboard/samples.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

// What the page reads, as JSON: units are in the names, absent is null.

/// Who looks at the page; none: someone without a token.
using Viewer = std::optional<ApiClient>;

/// Whether a viewer may see names and texts of a job or request, and steer it: an operator all, others their own.
/// `owner`: JobSpec::batch or JobStatus::client.
bool may_steer(const Viewer& viewer, std::string_view owner);

/// What is known beside the devices and what they work on.
struct StatusView {
  std::string model{};  // empty: this server transcribes nothing
  std::string state{};
  double at = 0;  // Unix seconds
  std::optional<JobCounts> counts{};
};

/// The same as a viewer may see it: figures, and names of recordings and folders and texts of errors only as far as
/// they are its own.
FleetStatus seen_by(const Viewer& viewer, FleetStatus fleet);

/// Share of the devices with something in work.
double busy_share(const FleetStatus& fleet);

/// {"at_unix_seconds", "model", "client": {"name", "operator"}, "state_folder", "jobs": {"queued", ...}, "fleet": what
/// `tutti top --json` prints}, as `viewer` may see it.
std::string status_json(const StatusView& view, const std::optional<FleetStatus>& fleet, const Viewer& viewer);

/// A part of the store's jobs, the latest first: ?state=queued,running&name=TEXT&before=ID&limit=N.
struct QueuePage {
  JobFilter filter{};
  std::string name{};  // only those with that in their names
  JobId before = 0;    // 0: from the latest on
  std::size_t limit = 50;
};
Result<QueuePage> read_queue_page(const std::map<std::string, std::string>& parameters);

/// {"counts": {...}, "jobs": [{"id", "state", "why_waiting", ...}], "next_before"}.
nlohmann::ordered_json queue_json(const JobCounts& counts, const std::vector<Job>& jobs,
                                  const std::optional<FleetStatus>& fleet, const Viewer& viewer);

/// `devices`: the samples of each, by its id.
nlohmann::ordered_json throughput_json(const std::vector<FleetSample>& samples,
                                       const std::map<std::string, std::vector<FleetSample>>& devices, double at,
                                       double minutes);

/// Field note 000's: {"gpus": [{"id", "name", "total_mb", "slots_used", "slots_max", "jobs", "state"}],
/// "system_ram_mb", "system_ram_available_mb", "pending_jobs"}; the state is that of `tutti top --json`, "draining".
nlohmann::ordered_json resources_json(const std::optional<FleetStatus>& fleet, const JobCounts& counts);

/// Something that a client of the page has done.
struct AuditEntry {
  double at = 0;  // Unix seconds
  std::string action{};
  std::string target{};
  std::string address{};
  std::string client{};       // its name
  std::string fingerprint{};  // whose entry it is, beside operators'
  std::string error{};        // empty: it was done
};
nlohmann::ordered_json audit_json(const std::vector<AuditEntry>& entries);

/// The number that a parameter has, between 1 and `most`; `usual` where it has none.
std::size_t limit_of(const std::map<std::string, std::string>& parameters, std::size_t usual, std::size_t most,
                     const std::string& name = "limit");

std::optional<JobId> job_id_of(const std::string& text);

}  // namespace tutti
