#pragma once

#include <memory>
#include <string>

#include "audio/log_mel.h"
#include "base/error.h"
#include "link/worker_handle.h"
#include "text/tokenizer.h"
#include "transcribe/interrupt.h"
#include "transcribe/run.h"

namespace tutti {

/// A worker that has its model, and what the control side derived from both. Shared by all files of a run.
struct LoadedWorker {
  std::unique_ptr<WorkerHandle> engine;
  Tokenizer tokenizer;
  LogMel log_mel;
  std::vector<std::int32_t> suppressed{};  // ids never sampled, by the run's options
  LongFormOptions rules{};                 // the run's, made to fit the model: an English one knows no other language
  std::int64_t frames_per_window = 3000;
  std::int32_t n_text_ctx = 448;
  std::string device_name{};
  std::string compute_type{};
  std::int32_t slots = 1;
  Seconds load{};
};

/// Chooses the device, starts its worker and waits until the model is loaded. `interrupt` ends the wait.
Result<std::shared_ptr<const LoadedWorker>> start_worker(const RunOptions& options, Interrupt& interrupt);

}  // namespace tutti
