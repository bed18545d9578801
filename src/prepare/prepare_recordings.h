#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "prepare/prepare_recording.h"
#include "profile/tuning_store.h"
#include "transcribe/pool/one_device.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// What all recordings of a corpus are prepared with. Borrowed.
struct PrepareSetup {
  const LoadedDevice& device;
  const TranscribeOptions& options;  // those it was loaded with; files_at_once recordings are aligned together
  const PrepareRules& rules;
  std::filesystem::path texts{};  // where the texts are; empty: beside the recordings
  /// Whether, and within which memory, threads are chosen while it runs: those that decode, and how many recordings are
  /// in work where options.files_at_once is 0. What is tuned is set here.
  TuningPlan tuning{.is_on = false};
};

/// What preparing came to, beside the recordings.
struct Preparation {
  std::optional<TuningResult> tuning{};  // none: nothing was measured
  std::string finding{};  // the sentence on what limited it, as `conclude` (profile/recorded_run.h) has it
};

/// Gets every recording, prepared or with what was wrong with it, on the caller's thread. Its error ends it all.
using OnPrepared = std::function<Result<void>(const std::filesystem::path&, const Result<PreparedRecording>&)>;

/// Prepares recordings, several at once: the next are decoded while the worker aligns these. `on_prepared` gets them in
/// the order they are named in, and the same of each whatever their number. Once `stop` is raised none is begun;
/// what was under way then and could not be finished is left out. Blocks.
Result<Preparation> prepare_recordings(std::span<const PrepareInput> inputs, const PrepareSetup& setup,
                                       StopSignal& stop, const OnPrepared& on_prepared);

}  // namespace tutti
