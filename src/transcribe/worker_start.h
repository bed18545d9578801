#pragma once

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "device/device_spec.h"
#include "hub/model_shape.h"
#include "link/emulated_worker.h"
#include "link/supervisor.h"
#include "transcribe/run.h"

namespace tutti {

// What a device's worker is started with: of a pool's devices, and of those that a plan only reckons with.
// All of it may be called by any thread.

/// What emulated GPUs report and write for a run's model: its facts, and words in its tokenizer's ids. Without a model
/// they use the multilingual vocabulary that is built in. Fault::unsupported for a model whose shape cannot be known
/// without loading it.
Result<EmulatedSpeech> emulated_speech(const std::filesystem::path& model);

/// Tokens that each slot of a run's workers holds with a model of that shape: with --batched what its prompts and texts
/// can need, else all that the model has.
std::int32_t text_positions_of(const RunOptions& options, const ModelShape& shape);

/// How to start the worker of a device, or the engine that the options name: its own command, model and memory. Its
/// slots are as large as recordings with these options need, and no larger. `speech` is for emulated ones, which tutti
/// plays itself. Fault::missing where it takes tutti-engine and there is none; Fault::internal for an emulated one
/// without `speech`.
Result<WorkerOptions> worker_options(const ResolvedDevice& device, const RunOptions& options,
                                     const std::optional<EmulatedSpeech>& speech);

}  // namespace tutti
