#pragma once

#include "base/error.h"
#include "jobs/history.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/pool/pool_options.h"

namespace tutti {

/// The pool as it is started: how each device's worker is, and what the store remembers of its speed and of how long it
/// loads.
Result<PoolPlan> plan_pool(const PoolOptions& options, RunHistory& history);

/// How long a device's worker took to load this model, in the first of these runs (latest first) in which it worked; 0:
/// in none.
Seconds load_time_in(const std::vector<RunRecord>& runs, const std::string& device, const std::string& model);

/// So many runs are looked at.
inline constexpr std::size_t kRunsRead = 20;

/// Threads that wait for windows: as many as the devices take at once, and some whose window is ready when capacity
/// becomes free.
int threads_of(const PoolOptions& options);

}  // namespace tutti
