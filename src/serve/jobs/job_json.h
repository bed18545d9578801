#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "jobs/job.h"
#include "jobs/store_time.h"
#include "serve/jobs/job_events.h"

namespace tutti {

/// A job as /v1/jobs shows it: {"id", "object": "job", "name", "status", "phase", "progress", ...}. `progress`: of one
/// that this server has in work. `why_waiting`: for people; empty: it does not wait.
nlohmann::ordered_json job_json(const Job& job, const std::optional<JobProgress>& progress,
                                const std::string& why_waiting);

/// Why a job does not run, for people; empty: it does, or has ended. `in_work`: how many others are.
std::string why_job_waits(const Job& job, StoreTime now, std::size_t in_work);

/// What a client calls a state, and back: "failed" is the store's `dead`.
std::string status_of(JobState state);
std::optional<JobState> state_of(std::string_view status);

}  // namespace tutti
