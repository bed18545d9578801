#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "advise/pipeline_model.h"
#include "advise/timeline.h"
#include "advise/training_phases.h"
#include "metrics/phase_times.h"

namespace tutti {

/// A stage of a run of one of our commands.
struct RecordedStage {
  std::string name;
  StageResource resource = StageResource::cpu;
  int threads = 1;
  std::size_t queue = 1;         ///< items that may wait behind it
  std::string threads_flag{};    ///< sets the threads: "--decode-threads"; empty: none does
  std::string queue_flag{};      ///< sets the queue: "--ring-depth"; empty: none does
  PhaseTimes times{};            ///< time of all its threads together
  double on_core = 1;            ///< as StageModel's
  Seconds core_wait{};           ///< of its time: its thread was ready to run and had no core; of devices' stages
  bool on_processor = false;     ///< of kind device: that is the processor, so its time holds waits for cores
  std::vector<Seconds> items{};  ///< what each item took, in the order in which they came
};

/// What a run did before its threads and queues were those that are recorded.
struct Settling {
  Seconds elapsed{};
  std::size_t items = 0;
};

/// What a run of a command was: its stages, in the order in which an item passes them, and all of its items. The
/// process that ran the pipeline writes it. Plain data.
struct RunRecording {
  std::string command;          ///< "features"
  std::string unit{"files"};    ///< what an item is
  int cores = 1;                ///< that the process could use
  Seconds elapsed{};            ///< from the first item's start to the last one's end; loading a model is not in it
  std::size_t least_items = 1;  ///< from which its limit is known: the first may find what was made ready before
  Settling settling{};          ///< before that; no item and no time of it is in the recording
  Seconds held_up{};            ///< that a training's steps waited for a batch while a later one was whole
  std::vector<RecordedStage> stages{};
  std::vector<double> lengths{};  ///< of each item, in any unit: of its audio, its frames; empty: not known
  RunTimeline timeline{};
  std::optional<StepPhases> phases{};  ///< phases of a training's steps; none: it was no training
};

/// The recorded pipeline with its items. Every stage has items.
PipelineModel model_of(const RunRecording& recording);

/// Every so many of the recorded items, 1,024 at most, and as much of the time: what a replay takes long for.
RunRecording excerpt_of(RunRecording recording);

/// Items a second of one replay of all of its items, once.
double rate_of_run(const PipelineModel& pipeline);

/// Items a second, as measured.
double rate_of(const RunRecording& recording);

/// Items a second of one replay of the recorded items, unchanged.
double replayed_rate(const RunRecording& recording);

/// How far the replay of the recorded items, unchanged, is from the measured rate, as a share.
double model_error(const RunRecording& recording);

/// How far the rates of two runs of the same work are from one another on a machine with others, as a share.
inline constexpr double kOtherRun = 0.05;

/// What limits the run and which change would gain, for as much work again. Fixes set threads and queues that a flag
/// sets, and speeds. None: the replay does not explain the run (kMostModelError). `low` and `high` come from resampling
/// the items.
std::optional<Diagnosis> diagnose(const RunRecording& recording);

/// Whether the run is long enough to say anything of it: 2 s, and an item in every stage.
bool is_long_enough(const RunRecording& recording);

/// Whether it is, and has the items from which its limit is known (RunRecording::least_items).
bool has_enough_items(const RunRecording& recording);

/// The same in a fraction of a second, however long the run was: by an excerpt of its items, and with `low` and `high`
/// as far apart as two runs of the same work are. None also where the run was too short to say anything, or had too few
/// items.
std::optional<Diagnosis> diagnose_briefly(const RunRecording& recording);

/// The rate of as much work again with the changes made.
Fix predict(const RunRecording& recording, const std::vector<Change>& changes);

}  // namespace tutti
