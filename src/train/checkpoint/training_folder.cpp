#include "train/checkpoint/training_folder.h"

#include <utility>

#include "base/files.h"
#include "train/checkpoint/background_writer.h"
#include "train/checkpoint/resume.h"
#include "train/optimiser_step/averages_in_place.h"

namespace tutti {
namespace {

// What the writer goes by: one piece of a kind makes good another.
constexpr const char* kCheckpoint = "checkpoint";
constexpr const char* kModel = "model";

}  // namespace

TrainingFolder::TrainingFolder(TrainingFolderOptions options, Task& task, const TrainStep& step,
                               std::int64_t model_step)
    : options_(std::move(options)), task_(task), step_(step), checkpoints_(options_.out), model_step_(model_step) {}

Result<void> TrainingFolder::write(const TrainingState& state,
                                   const std::function<Result<void>(const CheckpointContent&)>& how) {
  return write_copies("the checkpoint of step " + std::to_string(state.step), [&] {
    auto files = task_.files("float32");
    if (!options_.settings.empty()) files["training.toml"] = options_.settings;
    CheckpointContent content{.network = {.files = std::move(files), .weights = copies(task_.weights())},
                              .training = copies(training_tensors(task_, step_)),
                              .state = state};
    return writer_.write(kCheckpoint, [this, how, content = std::move(content)]() mutable {
      content.state.model_step = model_step_;  // the model of this step was written before, if it could be
      return how(content);
    });
  });
}

Result<void> TrainingFolder::pruned(const Result<void>& written, std::int64_t best) const {
  if (written) checkpoints_.prune(options_.keep, best);
  return written;
}

Result<void> TrainingFolder::save(const TrainingState& state) {
  return write(state, [this](const CheckpointContent& content) {
    return pruned(checkpoints_.write(content), content.state.best_step);
  });
}

Result<void> TrainingFolder::amend(const TrainingState& state) {
  const auto written = writer_.finish(kCheckpoint);
  if (!written || !is_there(checkpoints_.of_step(state.step))) return save(state);
  return writer_.write(kCheckpoint, [this, now = state]() mutable {
    now.model_step = model_step_;  // as in write()
    return pruned(checkpoints_.amend(now), now.best_step);
  });
}

Result<void> TrainingFolder::save_aside(const TrainingState& state) {
  return write(state, [this](const CheckpointContent& content) { return checkpoints_.write_aside(content); });
}

Result<void> TrainingFolder::finish_checkpoints() {
  return writer_.finish(kCheckpoint);
}

Result<void> TrainingFolder::publish(std::int64_t step) {
  return write_copies("the model of step " + std::to_string(step), [this, step] {
    NetworkFolder network{.files = task_.files(options_.export_type),
                          .weights = copies(task_.weights()),
                          .weight_type = options_.export_type};
    return writer_.write(kModel, [this, step, path = options_.out / "model", network = std::move(network)] {
      auto written = write_network(path, network);
      if (written) model_step_ = step;
      return written;
    });
  });
}

Result<void> TrainingFolder::publish_best(std::int64_t best) {
  const auto written = writer_.finish();  // whatever failed: what is there now decides
  std::error_code ignored;
  if (model_step_ == best && std::filesystem::exists(options_.out / "model", ignored)) return {};
  if (auto restored = restore_checkpoint(checkpoints_.of_step(best), task_, step_); !restored)
    return written ? fail_in((options_.out / "model").string() + " is to be made of the best network", restored.error())
                   : written;
  const AveragesInPlace averages(task_, step_);
  return publish(best);
}

}  // namespace tutti
