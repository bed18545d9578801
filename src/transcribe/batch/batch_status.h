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

/// The runs with a heartbeat since `since`, but for `own`. Empty where the store does not answer.
std::vector<OtherRunner> other_runners(RunHistory& history, RunId own, StoreTime since, StoreTime now);

/// What the machines that share a store are doing: counts of the batches that have jobs which wait or are in work, the
/// jobs in work and where each is, and all devices of all runners as these last reported them, those that were lost
/// within the last hour among them. `url`: of the store. Errors: as the store's.
Result<FleetStatus> fleet_of_store(JobStore& store, const StoreUrl& url);

}  // namespace tutti
