#include "train/whisper_training.h"

#include <ATen/Parallel.h>

#include <memory>
#include <optional>

#include "base/log.h"
#include "feed/feed.h"
#include "train/report/reporter.h"
#include "train/stop_signals.h"
#include "train/whisper_feed.h"
#include "train/whisper_task.h"

namespace tutti {
namespace {

RateSchedule schedule_of(const WhisperRecipe& r, std::int64_t steps) {
  const auto shape = r.schedule == "cosine"   ? RateSchedule::Shape::cosine
                     : r.schedule == "linear" ? RateSchedule::Shape::linear
                                              : RateSchedule::Shape::constant;
  return {.shape = shape,
          .peak = r.learning_rate,
          .warmup = r.warmup_steps,
          .steps = steps,
          .cycles = r.cycles,
          .final_share = r.final_rate};
}

Precision precision_of(const WhisperRecipe& r) {
  if (r.precision == "tf32") return Precision::tf32;
  if (r.precision == "bfloat16") return Precision::bfloat16;
  return r.precision == "float16" ? Precision::float16 : Precision::float32;
}

TrainStep step_of(WhisperTask& task, const WhisperRecipe& r) {
  return TrainStep(task, {.beta1 = r.beta1, .beta2 = r.beta2, .epsilon = r.epsilon, .weight_decay = r.weight_decay},
                   {.precision = precision_of(r), .clip = r.clip, .ema = r.ema, .seed = r.seed});
}

TrainerOptions options_of(const WhisperTraining& training, std::int64_t steps) {
  const auto& r = training.recipe;
  return {.out = training.out,
          .schedule = schedule_of(r, steps),
          .max_steps = r.max_steps,
          .accumulation = r.accumulation,
          .save_steps = r.save_steps,
          .eval_steps = r.eval_steps,
          .keep = r.keep,
          .patience = r.patience,
          .bad_step_limit = r.bad_step_limit,
          .export_type = r.export_type};
}

/// Steps of the whole training.
std::int64_t steps_in_all(const WhisperRecipe& r, std::int64_t samples) {
  const auto by_epochs = r.epochs * steps_per_epoch(samples, r);
  if (r.max_steps == 0) return by_epochs;
  return r.epochs == 0 ? r.max_steps : std::min<std::int64_t>(r.max_steps, by_epochs);
}

std::optional<int> gpu_of(at::Device device) {
  return device.is_cuda() ? std::optional<int>(device.has_index() ? device.index() : 0) : std::nullopt;
}

NextBatch batches_of(Feed& feed) {
  return [&feed] { return feed.next(); };
}

/// Hears the set that judges with the weights as they are.
std::function<Result<Evaluation>()> evaluation_of(const WhisperTask& task, const WhisperRecipe& recipe) {
  const auto parts = data_parts(recipe);
  if (!parts.eval_data) return {};
  const auto options = evaluation_feed(recipe, task.dims(), *parts.eval_data, parts.eval_split);
  return [&task, options, normaliser = recipe.normaliser, times = recipe.timestamps == 1]() -> Result<Evaluation> {
    auto feed = Feed::open(options);
    if (!feed) return tl::unexpected<Error>(feed.error());
    const auto model = task.snapshot();
    const auto heard = listen(model, task.labels().tokenizer(),
                              {.sot_sequence = task.labels().sot_sequence(), .timestamps = times}, batches_of(*feed));
    if (!heard) return tl::unexpected<Error>(heard.error());
    return judge_samples(*heard, normaliser);
  };
}

/// The newest checkpoint, where there is one and it is wanted.
Result<std::optional<std::filesystem::path>> checkpoint_of(const WhisperTraining& training) {
  const auto newest = CheckpointFolder(training.out).newest();
  if (newest && !training.resume)
    return fail(Fault::usage, training.out.string() + " holds a training already",
                "Continue it with --resume, or name another folder");
  if (!newest && training.resume)
    log(Level::warning, training.out.string() + ": there is no checkpoint yet, the training starts from the beginning");
  return newest;
}

}  // namespace

Result<TrainingEnd> train_whisper(const WhisperTraining& training) {
  const auto& recipe = training.recipe;
  if (recipe.compute_threads > 0) at::set_num_threads(recipe.compute_threads);
  const auto checkpoint = checkpoint_of(training);
  if (!checkpoint) return tl::unexpected<Error>(checkpoint.error());
  auto task = WhisperTask::start(recipe, training.model);
  if (!task) return tl::unexpected<Error>(task.error());
  auto step = step_of(**task, recipe);
  TrainingState state;
  if (*checkpoint) {
    auto restored = Trainer::restore(**checkpoint, **task, step);
    if (!restored) return tl::unexpected<Error>(restored.error());
    state = std::move(*restored);
  }
  auto feed = Feed::open(training_feed(recipe, (*task)->dims(), training.out, state.position));
  if (!feed) return tl::unexpected<Error>(feed.error());
  const auto steps = steps_in_all(recipe, feed->samples_per_epoch());
  auto reporter = Reporter::open({.out = training.out,
                                  .last_step = state.step,
                                  .steps = steps,
                                  .gpu = gpu_of((*task)->device()),
                                  .log_steps = recipe.log_steps,
                                  .log_order = recipe.log_order});
  if (!reporter) return tl::unexpected<Error>(reporter.error());
  (*reporter)->watch_feed([&feed] { return feed->report(); });
  catch_stop_signals();
  Trainer trainer({.task = **task,
                   .step = step,
                   .next = batches_of(*feed),
                   .evaluate = evaluation_of(**task, recipe),
                   .interrupted = stop_was_asked,
                   .watcher = **reporter},
                  options_of(training, steps), std::move(state));
  auto end = trainer.run();
  if (end) (*reporter)->ended(trainer.state(), *end);
  return end;
}

}  // namespace tutti
