#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/owned.h"
#include "public/tutti/feed.h"
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

/// As join_processes, of what one process trains alone: Fault::usage where others would train along. `what`: "a
/// voice"; `hint`: how it is started.
Result<ProcessGroup> join_alone(const std::filesystem::path& out, const std::string& what, const std::string& hint);

/// The optimiser and the steps of a recipe.
AdamWOptions adamw_of(const OptimiserSettings& optimiser);
StepOptions step_options(const OptimiserSettings& optimiser, const ArithmeticSettings& arithmetic);

/// Warns of a precision that the device computes in another way. Such a training comes out right, and nothing but its
/// speed would show it.
void warn_of_precision(at::Device device, const PrecisionWord& precision);

/// What all processes go by: steps are those of the one with most samples in an epoch. `samples`: of this process's
/// epoch; `steps`: of an epoch with so many samples; `epochs`: 0: no end; `peers`: the others, or null.
TrainingLength length_of(std::int64_t samples, const std::function<std::int64_t(std::int64_t)>& steps,
                         std::int64_t epochs, std::int64_t max_steps, Peers* peers);

/// Steps of one epoch, if batches are full and nothing is cut: as many as rounding up batches and groups of them makes.
inline std::int64_t steps_of(std::int64_t samples, std::int64_t batch_size, std::int64_t accumulation) {
  const auto up = [](std::int64_t count, std::int64_t size) { return (count + size - 1) / size; };
  return up(up(samples, batch_size), accumulation);
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
  bool is_trial = false;  ///< only tries settings: one process that reports nothing and leaves no settings in OUT
};

/// Trains to the end. The first process keeps the settings in OUT/config.toml and reports on standard error and in OUT;
/// the others only report what it cannot know. SIGINT and SIGTERM end it behind the step at work.
Result<TrainingEnd> run_training(ReadyTraining training, TrainingState state);

}  // namespace tutti
