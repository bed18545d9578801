#pragma once

#include "base/error.h"
#include "jobs/store.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// The pool that a batch runs on: how each device's worker is started, and what the store remembers of its speed.
Result<PoolOptions> pool_options(const BatchOptions& options, JobStore& store);

/// Threads that wait for windows: as many as the devices take at once, and some whose window is ready when a place
/// becomes free.
int threads_of(const BatchOptions& options);

}  // namespace tutti
