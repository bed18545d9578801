#include "transcribe/batch/batch_tuning.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "profile/recording_file.h"
#include "transcribe/pool/pool_plan.h"
#include "transcribe/run_stages.h"

namespace tutti {
namespace {

constexpr int kTimesAsMany = 2;  // threads that wait for windows, at most, as there are without tuning

/// What is tuned. Unlike devices each take their share of the recordings, so that the rate of all of them follows from
/// their mean time.
TuningPlan plan_of(const JobRunOptions& options, int devices) {
  const RunOptions& run = options.run;
  const int waiting = threads_of(options);
  TuningPlan plan = options.tuning;
  plan.pipeline = std::string("batch") + (run.batched ? " --batched, " : ", ") + run.model_name() + ", " +
                  joined(options.devices, ", ", [](const auto& device) { return device.id; });
  plan.stages = {{kDecodeStage, StageResource::cpu, true}};
  if (run.vad) plan.stages.push_back({kSpeechStage, StageResource::cpu, true});
  plan.stages.push_back({kPrepareStage, StageResource::cpu, true});
  // Of recordings in a row each thread also computes the features; of chunks they are ready.
  if (!run.batched) plan.stages.push_back({WorkerStage::kFeatures, StageResource::cpu});
  plan.stages.push_back({.name = kTranscribeStage,
                         .resource = StageResource::io,
                         .is_open = options.jobs_at_once == 0 && options.job_caps.empty(),
                         .least = waiting,
                         .most = kTimesAsMany * waiting});
  plan.stages.push_back({WorkerStage::kDevice, devices == 1 ? StageResource::device : StageResource::io});
  plan.stages.push_back({kWriteStage, StageResource::io});
  plan.most_threads = std::max(4, usable_cores()) * 3 + kTimesAsMany * waiting;
  return plan;
}

}  // namespace

BatchTuning::BatchTuning(const JobRunOptions& options)
    : devices_(std::max(1, static_cast<int>(options.devices.size()))), tuner_(plan_of(options, devices_)) {}

void BatchTuning::on_done(const FileOutcome& outcome, const Transcript& /*transcript*/) {
  worker_.note(outcome.spent);
}

Result<void> BatchTuning::watch(Pipeline& pipeline) {
  if (auto begun = tuner_.begin_as_known(pipeline); !begun) return begun;
  tuner_.watch(pipeline, [this](PipelineReport& report) { worker_.add_to(report, kTranscribeStage, devices_); });
  return {};
}

}  // namespace tutti
