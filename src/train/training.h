#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/owned.h"
#include "public/tutti/feed.h"
#include "recipe/recipe_file.h"
#include "recipe/training_recipe.h"
#include "train/peers/peers.h"
#include "train/ring_choice.h"
#include "train/trainer.h"

namespace tutti {

/// Who trains: this process alone, or with others, of whom the first holds the folder.
struct ProcessGroup {
  OwnedFd folder{};
  std::unique_ptr<Peers> peers{};
};

/// Joins the processes that train into `out`, which is made. A process that has joined the others finds the checkpoints
/// as a killed process should have left them. Fault::usage where OUT/model was edited, Fault::refused where another
/// training holds the folder.
Result<ProcessGroup> join_processes(const std::filesystem::path& out);

/// Adds to an error of going on from a checkpoint the settings that were others when OUT/config.toml was accepted: only
/// they, or the set itself, can be what does not fit. `settings`: of now; `read`: a recipe of its text and file name.
template <class Read>
Error with_changed_settings(Error error, const std::filesystem::path& out, const std::string& settings, Read read) {
  const auto kept = read_file(out / "config.toml");
  const auto before = kept ? read(*kept, "config.toml") : tl::unexpected(kept.error());
  const auto now = read(settings, "settings");
  if (!before || !now) return error;
  if (const auto changed = binding_differences(*now, *before); !changed.empty())
    error.hint = "Requested now: " + changed + (error.hint.empty() ? "" : ". " + error.hint);
  return error;
}

/// A recipe's "constant", "linear" or "cosine".
RateSchedule::Shape schedule_shape(const std::string& name);

/// The rate of a training by its steps: of all its epochs where these are bounded, else of `max_steps`. `warmup`: steps
/// in which it rises.
RateSchedule schedule_by_steps(const TrainingRecipe& recipe, std::int64_t warmup);

/// A recipe's "float32", "tf32", "bfloat16" or "float16".
StepPrecision step_precision(const std::string& name);

/// Warns of a precision that the device computes in another way. Such a training comes out right, and nothing but its
/// speed would show it.
void warn_of_precision(at::Device device, const std::string& name);

/// What all processes go by: steps are those of the one with most samples in an epoch. `samples`: of this process's
/// epoch; `steps`: of an epoch with so many samples; `epochs`: 0: no end; `peers`: the others, or null.
TrainingLength length_of(std::int64_t samples, const std::function<std::int64_t(std::int64_t)>& steps,
                         std::int64_t epochs, std::int64_t max_steps, Peers* peers);

/// Steps of one epoch, as many as rounding up batches and groups of them makes. For trainings without a feed of their
/// own.
inline std::int64_t steps_of(std::int64_t samples, std::int64_t batch_size, std::int64_t accumulation) {
  const auto up = [](std::int64_t count, std::int64_t size) { return (count + size - 1) / size; };
  return up(up(samples, batch_size), accumulation);
}

/// The trainer's options by what all recipes have.
TrainerOptions options_of(const TrainingRecipe& recipe);

/// The trainer's options of a training of one process (ClassifierTraining, TtsTraining). `evaluator`: what the networks
/// are chosen by; positions of another are not compared.
template <class Training>
TrainerOptions options_of(const Training& training, const RateSchedule& schedule, const TrainingLength& length,
                          std::uint64_t evaluator) {
  auto options = options_of(training.recipe);
  options.out = training.out;
  options.schedule = schedule;
  options.length = length;
  options.evaluator = std::to_string(evaluator);
  options.settings = training.settings;
  return options;
}

/// A training that is ready to go: what its trainer works with, and what its reports say. All is owned by the caller.
struct ReadyTraining {
  Task& task;
  TrainStep& step;
  NextBatch next;
  std::function<FeedReport()> feed_report{};  // empty: the epoch's report has nothing on the feed's stages
  std::function<Result<TaskScores>()> evaluate{};
  Peers* peers = nullptr;
  TrainerOptions options{};  ///< but for its ring
  RingRequest ring{};
  std::function<void(int)> wait_in_feed{};  ///< has so many batches more wait there; empty: there is no feed
  std::int32_t log_steps = 10;
  bool log_order = false;
  std::int32_t epochs = 0;
};

/// Trains to the end. The first process keeps the settings in OUT/config.toml and reports on standard error and in OUT;
/// the others only report what it cannot know. SIGINT and SIGTERM end it behind the step at work.
Result<TrainingEnd> run_training(ReadyTraining training, TrainingState state);

/// The same of one process without any report: what only tries settings.
Result<TrainingEnd> run_trial(ReadyTraining training, TrainingState state);

}  // namespace tutti
