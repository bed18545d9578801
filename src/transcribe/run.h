#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/vad/speech.h"
#include "base/error.h"
#include "link/other_engine.h"
#include "profile/tuning_store.h"
#include "transcribe/events.h"
#include "transcribe/output_plan.h"
#include "transcribe/remote_windows.h"
#include "transcribe/speech_options.h"
#include "transcript/long_form.h"
#include "transcript/writers.h"

namespace tutti {

class DoneCommand;

/// The model that recordings are transcribed by, how it is loaded, and how they are transcribed that have no options of
/// their own.
struct RunOptions : SpeechOptions {
  std::string build_id{};         // build of this program; the worker's must equal it
  std::filesystem::path model{};  // a Hugging Face folder or an OpenAI .pt, found
  /// default: float32 on a CPU, float16 on a GPU, as the reference. auto: the fastest that passes a self-test.
  std::string compute_type = "default";
  std::int32_t threads = 0;     // CPU threads for tensors; 0: one per core
  std::int32_t batch_size = 0;  // windows stepped together at most; 0: what memory and device make best
  bool deterministic = false;   // fixed shapes: the same transcript whatever the batch, order or neighbours
  /// None: tutti-engine. Another one takes `model` and `compute_type` as it knows them, and needs `batched`.
  std::optional<OtherEngine> engine{};

  /// Engine and model, by which history knows them: speeds of one are none of another's.
  std::string model_name() const {
    return engine ? engine->name + (model.empty() ? "" : ": " + model.string()) : model.string();
  }
};

/// Everything a run of `tutti transcribe` needs to know beside its files.
struct TranscribeOptions : RunOptions {
  std::string device = "auto";     // auto, cpu, cpu:N, cuda:N, a GPU's UUID
  std::int32_t files_at_once = 0;  // files in work together; 0: as many as the worker steps together
  WriterOptions writer{};
  std::shared_ptr<DoneCommand> on_done{};  // run for each file once its outputs are there; null: none
};

class StopSignal;

/// Transcribes every planned file that is not done already and writes its outputs. A file that fails costs its own
/// entry and no other; the Result fails only when nothing could run (no worker, no model). Blocks until all is done or
/// `stop` is raised. `tuning`: whether, and within which memory, the threads that make windows of files are chosen
/// while it runs; what is tuned is the run's own. Transcripts do not depend on it.
Result<RunSummary> run_transcription(const std::vector<PlannedFile>& files, const TranscribeOptions& options,
                                     RunObserver& observer, StopSignal& stop, TuningPlan tuning = {.is_on = false});

}  // namespace tutti
