#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "device/device_spec.h"
#include "hub/model_shape.h"
#include "link/emulated_worker.h"
#include "link/supervisor.h"
#include "link/worker_handle.h"
#include "transcribe/model_context.h"
#include "transcribe/run.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// What emulated GPUs report and write for a run's model: its facts, and words in its tokenizer's ids. Without a model
/// they use the multilingual vocabulary that is built in. Fault::unsupported for a model whose shape cannot be known
/// without loading it.
Result<EmulatedSpeech> emulated_speech(const std::filesystem::path& model);

/// Tokens that each slot of a run's workers holds with a model of that shape: with --batched what its prompts and texts
/// can need, else all that the model has.
std::int32_t text_positions_of(const RunOptions& options, const ModelShape& shape);

/// How to start the worker of a device. `speech` is for emulated ones, which tutti plays itself.
Result<WorkerOptions> worker_options(const ResolvedDevice& device, const RunOptions& options,
                                     const std::optional<EmulatedSpeech>& speech);

/// A worker that has its model, and what the control side derived from both. Shared by all files of a run.
struct LoadedWorker {
  std::unique_ptr<WorkerHandle> engine;
  ModelContext model;
  std::string device_name{};
  std::string compute_type{};
  std::int32_t slots = 1;
  Seconds load{};
};

/// Chooses the device, starts its worker and waits until the model is loaded. `stop` ends the wait.
Result<std::shared_ptr<const LoadedWorker>> start_worker(const TranscribeOptions& options, StopSignal& stop);

}  // namespace tutti
