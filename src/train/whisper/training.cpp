#include "train/training.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "base/units.h"
#include "device/machine.h"
#include "model/cpu/compute_team.h"
#include "model/formats/dims.h"
#include "public/tutti/feed.h"
#include "recipe/recipe_file.h"
#include "recipe/whisper_recipe.h"
#include "train/checkpoint/resume.h"
#include "train/optimiser_step/step.h"
#include "train/optimiser_step/step_memory.h"
#include "train/peers/peers.h"
#include "train/trainer.h"
#include "train/trainings.h"
#include "train/whisper/evaluation_policy.h"
#include "train/whisper/feed.h"
#include "train/whisper/stored_shape.h"
#include "train/whisper/task.h"

namespace tutti {
namespace {

Error with_changed_settings(Error error, const WhisperTraining& training) {
  return with_changed_settings(std::move(error), training.out, training.settings,
                               [](const std::string& text, const char* name) { return read_recipe(text, name); });
}

RateSchedule schedule_of(const WhisperRecipe& r) {
  return {.shape = schedule_shape(r.schedule),
          .peak = r.learning_rate,
          .warmup = r.warmup_steps,
          .steps = r.schedule_steps,
          .cycles = r.cycles,
          .final_share = r.final_rate};
}

/// How many batches wait; whose costs depend on the data, the network and where it is.
RingRequest ring_of(const WhisperRecipe& r, const WhisperTask& task) {
  const std::string network = "width " + std::to_string(task.dims().n_audio_state);
  return {.training = ring_training(kWhisperTraining, r.data, r.batch_size, network, task.device().str()),
          .depth = r.ring_depth,
          .memory = Bytes{static_cast<std::int64_t>(r.ring_megabytes * 1e6)},
          .has_feed = true};
}

/// The steps by a recipe. `peers`: who train along, or null; both are to outlast the step.
TrainStep step_of(WhisperTask& task, const WhisperRecipe& r, Peers* peers) {
  return TrainStep(task, {.beta1 = r.beta1, .beta2 = r.beta2, .epsilon = r.epsilon, .weight_decay = r.weight_decay},
                   {.precision = step_precision(r.precision), .clip = r.clip, .ema = r.ema, .seed = r.seed}, peers);
}

/// The trainer's options by a recipe: all that is the recipe's own.
TrainerOptions options_of(const WhisperRecipe& r) {
  auto options = options_of(static_cast<const TrainingRecipe&>(r));
  options.schedule = schedule_of(r);
  options.refused = {.count = r.bad_samples, .share = r.bad_share};
  return options;
}

/// The settings as they are reported and kept, with the shape that a stored network has.
void settle_shape(WhisperTraining& training, const WhisperDims& dims, bool reports) {
  if (training.model.empty()) return;
  const auto unlike = take_stored_shape(training.recipe, dims);
  if (reports && !unlike.empty())
    log(Level::warning, "'model' names a network that keeps its shape; this was requested and does nothing: " + unlike);
  auto shown = read_recipe(training.settings, "settings").value();  // it was read before
  take_stored_shape(shown, dims);
  training.settings = show_recipe(shown);
}

/// What is trained, how big it is, where, and how fast: without a model a new network begins, which learns nothing
/// useful at the rate of a fine-tuning.
void report_network(const WhisperTraining& training, WhisperTask& task) {
  const auto& r = training.recipe;
  const auto& dims = task.dims();
  const auto kind = training.model.empty() ? std::string("a new network begins, for no " + field("model") + " is named")
                                           : "fine-tuning " + training.model.string();
  log(Level::info, kind + ": width " + std::to_string(dims.n_audio_state) + ", " + std::to_string(dims.n_audio_layer) +
                       " + " + std::to_string(dims.n_text_layer) + " layers, " +
                       std::to_string(parameter_count(task.weights())) + " parameters, on " + task.device().str() +
                       "; learning rate " + number_text(r.learning_rate) + " at most");
}

/// The feed; where the recipe wants the set on the task's device, it is there now.
Result<Feed> open_feed(const WhisperTraining& training, WhisperTask& task, const std::string& split, FeedShare share,
                       const std::string& position) {
  auto options = training_feed(training.recipe, task.dims(), training.out, split, share, position);
  options.resident = resident_of(training.recipe, task.device());
  const bool on_device = options.resident.where == Residence::device;
  auto feed = Feed::open(std::move(options));
  if (feed && share.rank == 0 && !feed->conclusion().empty()) log(Level::warning, feed->conclusion());
  if (!feed || !on_device || !feed->packed()) return feed;
  TRY(task.keep_on_device(feed->packed()));
  return feed;
}

/// Where processes do not share a set's cache, one may pack for hours what another finds packed.
Result<Feed> open_feed_with(Peers* peers, const WhisperTraining& training, WhisperTask& task, const std::string& split,
                            const std::string& position) {
  if (!peers) return open_feed(training, task, split, {}, position);
  std::optional<Feed> feed;
  TRY(peers->run_and_wait("opens its data", [&]() -> Result<void> {
    feed = TRY(open_feed(training, task, split, {peers->rank(), peers->ranks()}, position));
    return {};
  }));
  return std::move(*feed);
}

/// The trainer's options by the recipe, and what is known beside it.
TrainerOptions trainer_options(const WhisperTraining& training, const TrainingLength& length, std::string evaluator) {
  auto options = options_of(training.recipe);
  options.out = training.out;
  options.length = length;
  options.evaluator = std::move(evaluator);
  options.settings = training.settings;
  return options;
}

/// `peers`: the processes that train with this one, or null.
Result<TrainingEnd> train_with(Peers* peers, WhisperTraining training, const DataParts& parts) {
  const auto& recipe = training.recipe;
  const int rank = peers ? peers->rank() : 0;
  auto task = TRY(WhisperTask::start(recipe, training.model));
  settle_shape(training, task->dims(), rank == 0);
  if (rank == 0) report_network(training, *task);
  if (rank == 0) warn_of_precision(task->device(), recipe.precision);
  TRY(set_up_step_memory(*task, recipe.device_memory));
  auto step = step_of(*task, recipe, peers);
  auto state = state_to_go_on_from(training.out, training.resume, *task, step, peers);
  if (!state) return tl::unexpected<Error>(with_changed_settings(state.error(), training));
  const auto evaluation_data = TRY(evaluation_set(parts, peers));
  const auto position = state->positions.empty() ? "" : state->positions[static_cast<std::size_t>(rank)];
  auto feed = open_feed_with(peers, training, *task, parts.train_split, position);
  if (!feed) return tl::unexpected<Error>(with_changed_settings(feed.error(), training));
  const auto steps = [&recipe](std::int64_t samples) { return steps_per_epoch(samples, recipe); };
  const auto length = length_of(feed->samples_per_epoch(), steps, recipe.epochs, recipe.max_steps, peers);
  auto evaluator = evaluator_of(recipe, evaluation_data.get(), peers);
  return run_training({.task = *task,
                       .step = step,
                       .next = [&feed] { return feed->next(); },
                       .feed_report = [&feed] { return feed->report(); },
                       .evaluate = evaluation_of(*task, recipe, parts),
                       .peers = peers,
                       .options = trainer_options(training, length, std::move(evaluator)),
                       .ring = ring_of(recipe, *task),
                       .wait_in_feed = [&feed](int more) { feed->deepen(more); },
                       .log_steps = recipe.log_steps,
                       .log_order = recipe.log_order,
                       .epochs = recipe.epochs},
                      std::move(*state));
}

}  // namespace

Result<TrainingEnd> train_whisper(WhisperTraining training) {
  const auto& recipe = training.recipe;
  const auto parts = data_parts(recipe);
  TRY(check_evaluation(recipe, parts.eval_data.has_value()));
  set_compute_threads(recipe.compute_threads, read_cpu().cores);
  const auto group = TRY(join_processes(training.out));
  return train_with(group.peers.get(), std::move(training), parts);
}

}  // namespace tutti
