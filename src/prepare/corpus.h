#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "prepare/done_recordings.h"
#include "prepare/prepare_inputs.h"
#include "prepare/prepare_recording.h"
#include "profile/tuning_store.h"
#include "transcribe/run.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// A corpus that is to be made of recordings and their texts.
struct CorpusRequest {
  std::filesystem::path out{};
  std::filesystem::path texts{};          ///< where the texts are; empty: beside the recordings
  std::optional<std::string> language{};  ///< as it was requested; none: detected in each recording
  PrepareRules rules{};
  TranscribeOptions options{};  ///< of the model that aligns: corpus_options
  TuningPlan tuning{.is_on = false};
};

/// The options with which a model aligns so many recordings, but for model and device.
TranscribeOptions corpus_options(std::size_t recordings);

/// Checks that no part of the corpus replaces what it is made of. `named`: what names the recordings, which may be
/// tables and folders.
Result<OutputOwnership> claim_corpus(const CorpusRequest& request, const std::vector<std::string>& named,
                                     const std::vector<PrepareInput>& inputs);

/// What is reported of a corpus while it is made. All from the caller's thread.
struct CorpusEvents {
  std::function<void(std::size_t before, std::size_t all)> on_start{};  ///< `before`: earlier runs have prepared them
  std::function<void(const std::filesystem::path&, const PreparedRecording&)> on_recording{};
  std::function<void(const Error&)> on_failed{};  ///< a recording of which nothing could be taken
};

/// How it ended. Whatever ended it, what is prepared is kept.
struct CorpusEnd {
  PreparedTotals totals{};
  std::size_t failed = 0;                ///< recordings of which nothing was taken
  bool is_whole = false;                 ///< none may be prepared another time
  std::optional<TuningResult> tuning{};  ///< none: nothing was measured
  std::string finding{};                 ///< what limited it, as a sentence; empty: it was not measured
  std::optional<Error> error{};          ///< that ended it before its time
  std::optional<Error> not_written{};    ///< the lists could not be written: the corpus cannot be learned
};

/// Goes on with the corpus, or begins one, and prepares every recording that no earlier run has. Blocks; ends early
/// once `stop` is raised. Errors: nothing was begun.
Result<CorpusEnd> prepare_corpus(const CorpusRequest& request, const std::vector<PrepareInput>& inputs,
                                 const OutputOwnership& files, StopSignal& stop, const CorpusEvents& events);

}  // namespace tutti
