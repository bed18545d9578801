#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/guarded.h"
#include "flow/pipeline.h"
#include "transcribe/file_transcription.h"
#include "transcribe/interrupt.h"
#include "transcribe/output_plan.h"
#include "transcribe/run.h"
#include "transcribe/tally.h"
#include "transcribe/worker_start.h"

namespace tutti {

/// What the stages of a run share. Outlives the pipeline.
struct Run {
  const std::vector<PlannedFile>& files;
  const RunOptions& options;
  Tally& tally;
  Interrupt& interrupt;
  OnProgressOfFile on_progress{};
  std::atomic<bool> aborted{false};
  std::size_t next = 0;  // the source's own
  std::shared_ptr<const LoadedWorker> worker{};
  std::optional<TranscriptionContext> context{};
  /// The two above, once they are there. Empty: still loading; null: there will be none.
  Guarded<std::optional<const TranscriptionContext*>> ready{};
};

/// The stage that holds one window in flight per thread; its number of threads is set once the worker has told its own.
inline constexpr const char* kTranscribeStage = "transcribe";

/// files -> decode [-> listen, with VAD] -> prepare -> transcribe -> write.
void build_stages(Pipeline& pipeline, Run& run);

}  // namespace tutti
