#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/try.h"
#include "feed/labelled/labelled_batches.h"
#include "recipe/recipe_file.h"
#include "train/checkpoint/resume.h"
#include "train/optimiser_step/step_memory.h"
#include "train/ring_choice.h"
#include "train/training.h"
#include "train/trainings.h"

namespace tutti {

/// The batches of a training, from where it goes on.
struct TrainingBatches {
  NextBatch next{};
  std::int64_t samples = 0;                           // of this process's epoch
  std::function<std::int64_t(std::int64_t)> steps{};  // of an epoch with so many samples
  BadSampleLimits refused{};                          // how many samples the task may refuse
  std::function<FeedReport()> report{};               // as ReadyTraining::feed_report
  std::function<void(int)> wait{};                    // as ReadyTraining::wait_in_feed
};

/// What learns by a recipe: a task with its data, its batches and its evaluation. Each training has one; train_task
/// does what all of them share. Its functions are called in their order here, each once.
template <class Recipe, class TaskOfRecipe>
class Learner {
 public:
  explicit Learner(RecipeTraining<Recipe> training) : training_(std::move(training)) {}
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  const RecipeTraining<Recipe>& training() const { return training_; }
  const Recipe& recipe() const { return training_.recipe; }

  /// Makes the task.
  virtual Result<void> start() = 0;
  Task& task() { return *task_; }
  /// Limits what the steps take of the device, before they take it.
  virtual Result<void> limit_memory() { return set_up_step_memory(*task_, recipe().arithmetic.device_memory); }
  /// `position`: of the last batch that was used; empty: from the start.
  virtual Result<TrainingBatches> open_batches(const std::string& position) = 0;
  /// Reports what is learned, now that the settings are accepted.
  virtual Result<void> begin() { return {}; }
  /// Steps in which the rate rises, by those of an epoch.
  virtual std::int64_t warmup(std::int64_t) const { return recipe().optimiser.warmup_steps; }
  /// What the networks are chosen by: the scores of another are not compared.
  virtual std::string evaluator() = 0;
  /// Empty: nothing chooses.
  virtual std::function<Result<TaskScores>()> evaluation() = 0;
  virtual RingRequest ring() = 0;
  virtual bool is_trial() const { return false; }

 protected:
  /// Batches of rows in an order of each epoch's own. Errors as of LabelledBatches.
  Result<TrainingBatches> batches_of_rows(std::int64_t rows, std::int64_t size, std::uint64_t fingerprint,
                                          const std::string& position) const {
    const auto& b = recipe().batches;
    auto batches = std::make_shared<LabelledBatches>(TRY(LabelledBatches::open({.rows = rows,
                                                                                .batch_size = size,
                                                                                .epochs = b.epochs,
                                                                                .seed = recipe().arithmetic.seed,
                                                                                .fingerprint = fingerprint},
                                                                               position)));
    return TrainingBatches{
        .next = [batches] { return Result<std::optional<Batch>>(batches->next()); },
        .samples = rows,
        .steps = [size, every = b.accumulation](std::int64_t samples) { return steps_of(samples, size, every); }};
  }
  /// The request for a ring by the recipe. `network`: what of its shape changes the cost of a step.
  RingRequest ring_of(const std::filesystem::path& data, std::int64_t batch_size, const std::string& network) const {
    return {.training = ring_training(Recipe::kTraining, data, batch_size, network, task_->device().str()),
            .depth = recipe().batches.ring_depth};
  }

  RecipeTraining<Recipe> training_;
  std::unique_ptr<TaskOfRecipe> task_{};
};

/// Adds to an error of going on from a checkpoint the settings that were others when OUT/config.toml was accepted: only
/// they, or the set itself, can be what does not fit.
template <class Recipe>
tl::unexpected<Error> with_changed_settings(Error error, const RecipeTraining<Recipe>& training) {
  const auto kept = read_file(training.out / "config.toml");
  const auto before = kept ? read_recipe<Recipe>(*kept, "config.toml") : tl::unexpected(kept.error());
  const auto now = read_recipe<Recipe>(training.settings, "settings");
  const auto changed = before && now ? binding_differences(*now, *before) : std::string();
  if (!changed.empty()) error.hint = "Requested now: " + changed + (error.hint.empty() ? "" : ". " + error.hint);
  return tl::unexpected(std::move(error));
}

/// The trainer's options by a recipe and what is known beside it.
template <class AnyLearner>
TrainerOptions trainer_options(AnyLearner& learner, const TrainingBatches& batches, Peers* peers) {
  const auto& r = learner.recipe();
  const auto length = length_of(batches.samples, batches.steps, r.batches.epochs, r.batches.max_steps, peers);
  return {.out = learner.training().out,
          .schedule = {.shape = r.optimiser.schedule,
                       .peak = r.optimiser.learning_rate,
                       .warmup = learner.warmup(batches.steps(batches.samples)),
                       .steps = r.optimiser.schedule_steps,
                       .cycles = r.optimiser.cycles,
                       .final_share = r.optimiser.final_rate},
          .length = length,
          .max_steps = r.batches.max_steps,
          .accumulation = r.batches.accumulation,
          .save_steps = r.run.save_steps,
          .eval_steps = r.run.eval_steps,
          .keep = r.run.keep,
          .patience = r.run.patience,
          .bad_step_limit = r.run.bad_step_limit,
          .refused = batches.refused,
          .max_time = Seconds(60 * r.batches.max_minutes),
          .evaluator = learner.evaluator(),
          .export_type = r.network.export_type.word(),
          .settings = learner.training().settings};
}

/// One training from its task to its end. `peers`: the processes that train with this one, or null.
template <class AnyLearner>
Result<TrainingEnd> train_task(AnyLearner& learner, Peers* peers = nullptr) {
  TRY(learner.start());
  const auto& training = learner.training();
  const auto& r = training.recipe;
  Task& task = learner.task();
  const int rank = peers ? peers->rank() : 0;
  if (rank == 0) warn_of_precision(task.device(), r.arithmetic.precision);
  TRY(learner.limit_memory());
  TrainStep step(task, adamw_of(r.optimiser), step_options(r.optimiser, r.arithmetic), peers);
  auto state = state_to_go_on_from(training.out, training.resume, task, step, peers);
  if (!state) return with_changed_settings(state.error(), training);
  const auto& positions = state->positions;
  auto batches = learner.open_batches(positions.empty() ? "" : positions[static_cast<std::size_t>(rank)]);
  if (!batches) return with_changed_settings(batches.error(), training);
  TRY(learner.begin());
  auto options = trainer_options(learner, *batches, peers);
  return run_training({.task = task,
                       .step = step,
                       .next = std::move(batches->next),
                       .feed_report = std::move(batches->report),
                       .evaluate = learner.evaluation(),
                       .peers = peers,
                       .options = std::move(options),
                       .ring = learner.ring(),
                       .wait_in_feed = std::move(batches->wait),
                       .log_steps = r.run.log_steps,
                       .log_order = r.run.log_order,
                       .epochs = r.batches.epochs,
                       .is_trial = learner.is_trial()},
                      std::move(*state));
}

}  // namespace tutti
