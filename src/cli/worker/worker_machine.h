#pragma once

#include <string>

#include "base/error.h"
#include "cli/worker/worker_flags.h"
#include "settings/option_table.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/run.h"

namespace tutti {

// What a worker is on its machine, wherever its jobs come from.

/// How a worker's command ended.
struct WorkerEnd {
  int exit_code = 0;
  bool is_idle = false;  // the idle time ended it
};

/// Sets the devices, the model, and how recordings are transcribed. `line`: the command, for the history. Returns what
/// the command line sets of transcribing. Fault::missing where no GPU is in sight and the CPU is not allowed;
/// Fault::usage names the flag.
Result<TranscribeOptions> set_machine(const WorkerCommand& command, const std::string& line, JobRunOptions& options);

/// Whether a run that ended with this error, before it had done a job, is to begin again: no device computes, and the
/// CPU may instead. Then the options name the CPU, and the log has why.
bool falls_back_to_cpu(const WorkerCommand& command, const Error& error, JobRunOptions& options);

int exit_code(const BatchReport& report);

// `tutti worker --store` (store_worker.cpp): a remote runner on a store that machines share. It does what
// `tutti batch --store` has submitted on any machine, with recordings and outputs at paths that are the same on all.

/// The defaults of `tutti batch`, where the command line leaves them: the options of a worker and those of the batch
/// that it helps must be the same.
void default_as_batch(OptionTable& table, WorkerCommand& command);

/// Works until the store has had nothing for it for the idle time, or a signal. `line`: the command, for the history.
WorkerEnd work_on_store(const WorkerCommand& command, const std::string& line);

}  // namespace tutti
