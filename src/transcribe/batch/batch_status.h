#pragma once

#include <map>

#include "jobs/job_admin.h"
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

}  // namespace tutti
