#pragma once

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "device/device_spec.h"
#include "link/emulated/emulated_part.h"
#include "link/supervisor.h"

namespace tutti {

struct RunOptions;

/// What emulated cards report and write for a run's model: its facts, and words in its tokenizer's ids. Without a model
/// they use the multilingual vocabulary that is built in. Fault::unsupported for a model whose shape cannot be known
/// without loading it.
Result<EmulatedSpeech> emulated_speech(const std::filesystem::path& model);

/// How to start the worker of a device. `speech` is for emulated ones, which tutti plays itself.
Result<WorkerOptions> worker_options(const ResolvedDevice& device, const RunOptions& options,
                                     const std::optional<EmulatedSpeech>& speech);

}  // namespace tutti
