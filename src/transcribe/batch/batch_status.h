#pragma once

#include <map>

#include "jobs/store.h"
#include "jobs/store_url.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/batch/run_jobs.h"
#include "transcribe/pool/pool_machine.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What a batch looks like now, for the table, the note's status line and the control socket.
/// `view`: the devices now, or as they were a moment ago.
FleetStatus fleet_status(const JobRunOptions& options, const RunSnapshot& run, const PoolView& view,
                         const PoolMachine& machine);

/// Every job of the run as the store knows it, with what this run did for it.
void add_assets(BatchReport& report, JobAdmin& admin, const std::map<JobId, BatchEntry>& entries);

/// What the machines that share a store are doing, as far as the store knows it: counts of the batches that have jobs
/// which wait or are in work, the jobs in work, and where each is. Loads and memory of the devices are known on their
/// machines alone, and are absent. `url`: of the store. Errors: as the store's.
Result<FleetStatus> fleet_of_store(JobStore& store, const StoreUrl& url);

}  // namespace tutti
