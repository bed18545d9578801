#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "small_whisper.h"
#include "train/checkpoint/resume.h"
#include "train/trainer.h"
#include "train/training.h"
#include "train/whisper/evaluation_policy.h"

namespace tutti {

namespace fs = std::filesystem;

/// An endless set in epochs of five batches, going on behind a position as the feed does.
inline NextBatch batches_behind(const std::string& position, std::int64_t epochs = 100) {
  auto next = std::make_shared<std::int64_t>(position.empty() ? 0 : std::stoll(position));
  return [next, epochs]() -> Result<std::optional<Batch>> {
    const auto number = *next / 4;
    if (number >= 5 * epochs) return std::optional<Batch>();
    auto batch = small_batch(*next, 4);
    batch.epoch = number / 5;
    *next += 4;
    return std::optional<Batch>(std::move(batch));
  };
}

/// The scores of a network whose word error rate is `wer`.
inline TaskScores scored_by(double wer) {
  return scores_of({.wer = wer, .samples = 1});
}

struct Watcher : TrainingWatcher {
  void stepped(const StepReport& step) override {
    steps.push_back(step.state.step);
    rates.push_back(step.rate);
    samples += step.outcome.samples;
    waited += step.waited;
    seconds += step.seconds;
  }
  void evaluated(const TrainingState&, const TaskScores&, bool best) override { bests.push_back(best); }
  void refused(const std::string& id, const std::string&) override { refusals.push_back(id); }
  std::vector<std::int64_t> steps{};
  std::vector<double> rates{};
  std::int64_t samples = 0;
  double waited = 0;
  double seconds = 0;
  std::vector<bool> bests{};
  std::vector<std::string> refusals{};
};

inline WhisperRecipe restless_recipe() {
  auto recipe = small_recipe();
  recipe.learning.dropout = 0.2;
  recipe.optimiser.ema = 0.9;
  return recipe;
}

/// One training in one folder, begun or continued.
struct Training {
  explicit Training(const fs::path& out, const WhisperRecipe& recipe = restless_recipe())
      : folder(out), task(small_task(recipe)), step(*task, {}, step_options(recipe.optimiser, recipe.arithmetic)) {
    options = {.out = out,
               .schedule = {.shape = RateSchedule::Shape::cosine, .peak = 1e-2, .warmup = 2, .steps = 40},
               .export_type = "float32"};
  }

  Result<TrainingEnd> run() {
    TrainingState state;
    if (const auto all = CheckpointFolder(folder).newest_first(); !all.empty())
      state = restore_checkpoint(all.front(), *task, step).value();
    first_step = state.step;
    Trainer trainer({.task = *task,
                     .step = step,
                     .next = spoiled(batches_behind(state.positions.empty() ? "" : state.positions.front(), epochs)),
                     .evaluate = evaluate,
                     .interrupted = interrupted,
                     .watcher = watcher,
                     .peers = peers},
                    options, state);
    return trainer.run();
  }

  /// From now on the score depends on the step's number: the network of step `best` scores best.
  void restore_best_at(std::int64_t best) {
    evaluate = [this, best]() -> Result<TaskScores> {
      const auto at = first_step + std::ssize(watcher.steps);
      return scored_by(at == best ? 0.1 : 0.5);
    };
  }

  NextBatch spoiled(NextBatch next) const {
    return [next = std::move(next), change = spoil, fails = fails_from]() -> Result<std::optional<Batch>> {
      auto batch = next();
      if (batch && *batch && fails && (*batch)->index >= *fails) return fail(Fault::unavailable, "the disk is gone");
      if (change && *batch) change(**batch);
      return batch;
    };
  }

  fs::path folder;
  std::function<void(Batch&)> spoil{};       // done to every batch
  std::optional<std::int64_t> fails_from{};  // the feed, instead of handing out the batch of this index
  std::int64_t epochs = 100;
  std::unique_ptr<WhisperTask> task;
  TrainStep step;
  TrainerOptions options{};
  Watcher watcher{};
  std::function<Result<TaskScores>()> evaluate{};
  std::function<bool()> interrupted{};
  Peers* peers = nullptr;
  std::int64_t first_step = 0;
};

inline std::vector<fs::path> checkpoints_in(const fs::path& out) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(out / "checkpoints")) found.push_back(entry.path().filename());
  std::ranges::sort(found);
  return found;
}

}  // namespace tutti
