#pragma once

#include <functional>
#include <memory>

#include "cloud/aws_request.h"
#include "cloud/credential_source.h"
#include "jobs/store.h"
#include "runner/runner_parts.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/batch/batch_run.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// Whose queue and bucket a runner works with.
struct RunnerAccess {
  std::shared_ptr<CredentialSource> credentials{};
  AwsLocation location{};
};

/// How a run of a remote runner ended.
struct RunnerReport {
  BatchReport run{};
  RunnerTally::Numbers numbers{};
};

/// Checks that the queue is there, has dead letters, and that the bucket may be used: better known before hours of work
/// than behind them. Fault::refused where the queue has no dead letters, because what fails for good would come again
/// for days.
Result<RunnerQueue> check_queue_and_bucket(const RunnerOptions& options, const RunnerAccess& access, StopSignal& stop);

/// Works on the queue until it has been empty for the idle time, `stop` is raised, or nothing can be done here any
/// more: a JobRun over SQS and S3. Every message that is not done by then is released. `history` is that of this
/// machine, for speeds and runs. `with_control` is called once the devices are
/// starting, and again with null before the control goes. The error: nothing could run at all.
Result<RunnerReport> run_remote(const RunnerOptions& options, const RunnerAccess& access, const RunnerQueue& queue,
                                RunHistory& history, StopSignal& stop,
                                const std::function<void(BatchControl*)>& with_control);

}  // namespace tutti
