#pragma once

#include "transcribe/batch/batch_files.h"
#include "transcribe/batch/batch_machine.h"
#include "transcribe/batch/batch_report.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What a batch looks like now, for the table, the note's status line and the control socket.
FleetStatus fleet_status(const BatchOptions& options, const BatchFiles& files, DevicePool& pool,
                         const BatchMachine& machine);

/// Every task of the run as the store knows it, with what this run did for it.
void add_assets(BatchReport& report, JobStore& store, const BatchFiles& files);

/// Writes into the store what has befallen the devices since this was last called.
void record_news(DevicePool& pool, JobStore& store, RunId run);

/// Closes the run in the store's history, with what each device did and how fast it was.
void end_in_store(const BatchReport& report, const BatchOptions& options, JobStore& store, RunId run);

}  // namespace tutti
