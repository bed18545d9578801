#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "train/checkpoint/background_writer.h"
#include "train/checkpoint/folder.h"
#include "train/optimiser_step/step.h"
#include "train/task.h"

namespace tutti {

struct TrainingFolderOptions {
  std::filesystem::path out{};
  std::int32_t keep = 2;  // checkpoints beside the best one
  std::string export_type = "float16";
  std::string settings{};  // kept in every checkpoint, as training.toml; empty: not there
};

/// OUT as a training fills it: checkpoints, and the model. What is to be written is copied while the caller waits, and
/// written by a thread of its own. One caller.
class TrainingFolder {
 public:
  /// `model_step`: whose network is in OUT/model, as far as is known (TrainingState::model_step). Task and step outlive
  /// this.
  TrainingFolder(TrainingFolderOptions options, Task& task, const TrainStep& step, std::int64_t model_step);

  /// A checkpoint of task and step as they are now; those that are neither new enough nor the best go for it.
  Result<void> save(const TrainingState& state);
  /// Records in the checkpoint of this state's step, whose tensors have not changed since, what the state holds now.
  /// One that is not there, or could not be written, is written whole.
  Result<void> amend(const TrainingState& state);
  /// As save, but no training goes on from it unless a user requests that, and no other checkpoint is removed for it.
  Result<void> save_aside(const TrainingState& state);
  /// Where that of a step will be.
  std::filesystem::path aside_of_step(std::int64_t step) const { return checkpoints_.aside_of_step(step); }
  /// OUT/model becomes the network as it is now, which is that of `step`.
  Result<void> publish(std::int64_t step);
  /// OUT/model is the network of `best`: where it could not be written when that was found, or is gone, it is made of
  /// its checkpoint, which is kept. Task and step then hold that network.
  Result<void> publish_best(std::int64_t best);
  /// From now on OUT/model may be of a step that nothing has chosen.
  void forget_model() { model_step_ = 0; }
  /// Waits until all is written.
  Result<void> finish() { return writer_.finish(); }
  /// Likewise, and what the model came to does not count.
  Result<void> finish_checkpoints();

 private:
  Result<void> write(const TrainingState& state, const std::function<Result<void>(const CheckpointContent&)>& how);
  Result<void> pruned(const Result<void>& written, std::int64_t best) const;

  TrainingFolderOptions options_;
  Task& task_;
  const TrainStep& step_;
  CheckpointFolder checkpoints_;
  std::atomic<std::int64_t> model_step_;  // noted by the writer
  BackgroundWriter writer_{};             // last: its thread uses the above
};

}  // namespace tutti
