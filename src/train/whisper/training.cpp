#include "train/whisper/training.h"

#include <c10/core/Device.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owned.h"
#include "base/units.h"
#include "device/machine.h"
#include "feed/feed.h"
#include "feed/recipe/recipe_file.h"
#include "feed/recipe/whisper_recipe.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "model/formats/dims.h"
#include "model/gpu.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/resume.h"
#include "train/optimiser_step/step.h"
#include "train/optimiser_step/step_memory.h"
#include "train/peers/peers.h"
#include "train/report/reporter.h"
#include "train/stop_signals.h"
#include "train/trainer.h"
#include "train/whisper/evaluation_policy.h"
#include "train/whisper/feed.h"
#include "train/whisper/stored_shape.h"
#include "train/whisper/task.h"

namespace tutti {
namespace {

/// Adds to an error of going on from a checkpoint the settings that were others when OUT/config.toml was accepted: only
/// they, or the set itself, can be what does not fit.
Error with_changed_settings(Error error, const WhisperTraining& training) {
  const auto kept = read_file(training.out / "config.toml");
  const auto before = kept ? read_recipe(*kept, "config.toml") : tl::unexpected(kept.error());
  const auto now = read_recipe(training.settings, "settings");
  if (!before || !now) return error;
  if (const auto changed = binding_differences(*now, *before); !changed.empty())
    error.hint = "Requested now: " + changed + (error.hint.empty() ? "" : ". " + error.hint);
  return error;
}

RateSchedule schedule_of(const WhisperRecipe& r) {
  const auto shape = r.schedule == "cosine"   ? RateSchedule::Shape::cosine
                     : r.schedule == "linear" ? RateSchedule::Shape::linear
                                              : RateSchedule::Shape::constant;
  return {.shape = shape,
          .peak = r.learning_rate,
          .warmup = r.warmup_steps,
          .steps = r.schedule_steps,
          .cycles = r.cycles,
          .final_share = r.final_rate};
}

StepPrecision precision_of(const WhisperRecipe& r) {
  if (r.precision == "tf32") return StepPrecision::tf32;
  if (r.precision == "bfloat16") return StepPrecision::bfloat16;
  return r.precision == "float16" ? StepPrecision::float16 : StepPrecision::float32;
}

/// As many batches as the recipe has memory for, each as big as its limits allow.
BatchRingOptions ring_of(const WhisperRecipe& r, const WhisperDims& dims) {
  double seconds = r.batch_size * window_of(dims).count();
  if (r.batch_seconds > 0) seconds = std::min(seconds, std::max(r.batch_seconds, window_of(dims).count()));
  const double bytes = seconds * kFramesPerSecond * dims.n_mels * sizeof(float);
  const auto fitting = static_cast<int>(std::min(1000.0, r.ring_megabytes * 1e6 / bytes));
  return {.depth = r.ring_depth, .most_depth = std::max(r.ring_depth, fitting)};
}

/// The steps by a recipe. `peers`: who train along, or null; both are to outlast the step.
TrainStep step_of(WhisperTask& task, const WhisperRecipe& r, Peers* peers) {
  if (task.device().is_cpu()) keep_step_memory();
  return TrainStep(task, {.beta1 = r.beta1, .beta2 = r.beta2, .epsilon = r.epsilon, .weight_decay = r.weight_decay},
                   {.precision = precision_of(r), .clip = r.clip, .ema = r.ema, .seed = r.seed}, peers);
}

/// Warns of a precision that the device computes in another way. Such a training comes out right, and nothing but its
/// speed would tell.
void tell_of_precision(at::Device device, const WhisperRecipe& r) {
  if (!device.is_cuda()) return;
  const auto card = gpu::facts(index_of(device));
  const auto unsupported = card ? unsupported_reason(precision_of(r), card->capability) : std::string();
  if (!unsupported.empty()) log(Level::warning, "precision " + r.precision + ": " + unsupported);
}

/// The trainer's options by a recipe, for a network of that shape: all that is the recipe's own.
TrainerOptions options_of(const WhisperRecipe& r, const WhisperDims& dims) {
  return {.schedule = schedule_of(r),
          .max_steps = r.max_steps,
          .accumulation = r.accumulation,
          .save_steps = r.save_steps,
          .eval_steps = r.eval_steps,
          .keep = r.keep,
          .patience = r.patience,
          .bad_step_limit = r.bad_step_limit,
          .refused = {.count = r.bad_samples, .share = r.bad_share},
          .max_time = Seconds(60 * r.max_minutes),
          .export_type = r.export_type,
          .ring = ring_of(r, dims)};
}

std::optional<int> gpu_of(at::Device device) {
  return device.is_cuda() ? std::optional<int>(index_of(device)) : std::nullopt;
}

/// Who trains: this process alone, or with others, of whom the first holds the folder.
struct ProcessGroup {
  OwnedFd folder{};
  std::unique_ptr<Peers> peers{};
};

/// Fault::usage where OUT/model is not as this training wrote it: what was edited would be replaced.
Result<void> expect_own_model(const std::filesystem::path& out) {
  const auto model = out / "model";
  const auto whole = check_digests(model);
  if (whole || whole.error().fault != Fault::corrupt) return {};
  return fail(Fault::usage, model.string() + " would be replaced, and was edited: " + whole.error().what,
              "Move it away to keep it, or remove it");
}

/// A process that has joined the others finds the checkpoints as a killed process should have left them.
Result<ProcessGroup> join_processes(const std::filesystem::path& out) {
  const auto found = rendezvous();
  if (!found) return tl::unexpected<Error>(found.error());
  ProcessGroup group;
  if (!*found || (*found)->rank == 0) {
    auto held = hold_folder(out);
    if (!held) return tl::unexpected<Error>(held.error());
    group.folder = std::move(*held);
    CheckpointFolder(out).put_back();
    if (auto own = expect_own_model(out); !own) return tl::unexpected<Error>(own.error());
  }
  if (!*found) return group;
  auto peers = connect(**found);
  if (!peers) return tl::unexpected<Error>(peers.error());
  group.peers = std::move(*peers);
  return group;
}

/// Elsewhere the requested steps are made, however many epochs that takes.
void tell_of_epochs(const WhisperRecipe& r, std::int64_t steps, TrainingEnd end) {
  if (end != TrainingEnd::finished || r.epochs == 0 || steps >= r.max_steps || r.max_minutes > 0) return;
  log(Level::info, "epochs " + std::to_string(r.epochs) + " were over after " + std::to_string(steps) +
                       " steps, before max-steps " + std::to_string(r.max_steps) +
                       "; '--resume --epochs 0' goes on until then");
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

/// The first process reports; the others only report what it cannot know.
class NullTrainingWatcher : public TrainingWatcher {
 public:
  void stepped(const StepReport&) override {}
  void evaluated(const TrainingState&, const Evaluation&, bool) override {}
  void refused(const std::string& id, const std::string& why) override {
    if (reported_.insert(id).second) log(Level::warning, why);
  }

 private:
  std::set<std::string> reported_{};
};

Result<std::unique_ptr<Reporter>> reporter_of(const WhisperTraining& training, const WhisperTask& task,
                                              const TrainingState& state) {
  return Reporter::open({.out = training.out,
                         .last_step = state.step,
                         .evaluation_due = state.evaluation_due,
                         .most_time = Seconds(60 * training.recipe.max_minutes),
                         .gpu = gpu_of(task.device()),
                         .log_steps = training.recipe.log_steps,
                         .log_order = training.recipe.log_order});
}

/// The feed; where the recipe wants the set on the task's device, it is there now.
Result<Feed> open_feed(const WhisperTraining& training, WhisperTask& task, const std::string& split, FeedShare share,
                       const std::string& position) {
  auto options = training_feed(training.recipe, task.dims(), training.out, split, share, position);
  options.resident = resident_of(training.recipe, task.device());
  const bool on_device = options.resident.where == Residence::device;
  auto feed = Feed::open(std::move(options));
  if (!feed || !on_device || !feed->packed()) return feed;
  if (auto kept = task.keep_on_device(feed->packed()); !kept) return tl::unexpected<Error>(kept.error());
  return feed;
}

/// Where processes do not share a set's cache, one may pack for hours what another finds packed.
Result<Feed> open_feed_with(Peers* peers, const WhisperTraining& training, WhisperTask& task, const std::string& split,
                            const std::string& position) {
  if (!peers) return open_feed(training, task, split, {}, position);
  std::optional<Feed> feed;
  const auto opened = peers->run_and_wait("opens its data", [&]() -> Result<void> {
    auto own = open_feed(training, task, split, {peers->rank(), peers->ranks()}, position);
    if (!own) return tl::unexpected<Error>(own.error());
    feed = std::move(*own);
    return {};
  });
  if (!opened) return tl::unexpected<Error>(opened.error());
  return std::move(*feed);
}

/// What all processes go by: steps are those of the one with most samples in an epoch.
TrainingLength length_of(const WhisperRecipe& r, std::int64_t samples, Peers* peers) {
  const auto own = std::to_string(samples);
  TrainingLength length{.most = r.max_steps};
  for (const auto& text : peers ? peers->gather(own) : std::vector<std::string>{own}) {
    const std::int64_t theirs = std::stoll(text);
    length.least = std::max(length.least, r.epochs * steps_per_epoch(theirs, r));
    length.recordings += r.epochs * theirs;
  }
  return length;
}

/// Begins to report: logs the settings of the training, and keeps them where --resume looks for them. Not before all
/// processes have accepted them: what is refused must not replace what can go on.
Result<std::unique_ptr<Reporter>> take_over(const WhisperTraining& training, const WhisperTask& task,
                                            const TrainingState& state) {
  auto reporter = reporter_of(training, task, state);
  if (!reporter) return reporter;
  const CheckpointFolder checkpoints(training.out);
  checkpoints.clear_leftovers();
  checkpoints.set_aside_behind(state.step);
  std::printf("%s\n", training.settings.c_str());
  std::fflush(stdout);
  if (auto kept = write_file_atomically(training.out / "config.toml", training.settings); !kept)
    return tl::unexpected<Error>(kept.error());
  return reporter;
}

/// The trainer's options by the recipe, and what is known beside it.
TrainerOptions trainer_options(const WhisperTraining& training, const WhisperDims& dims, const TrainingLength& length,
                               std::string evaluator) {
  auto options = options_of(training.recipe, dims);
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
  auto task = WhisperTask::start(recipe, training.model);
  if (!task) return tl::unexpected<Error>(task.error());
  settle_shape(training, (*task)->dims(), rank == 0);
  if (rank == 0) tell_of_precision((*task)->device(), recipe);
  auto step = step_of(**task, recipe, peers);
  auto state = state_to_go_on_from(training.out, training.resume, **task, step, peers);
  if (!state) return tl::unexpected<Error>(with_changed_settings(state.error(), training));
  const auto evaluation_data = evaluation_set(parts, peers);
  if (!evaluation_data) return tl::unexpected<Error>(evaluation_data.error());
  const auto position = state->positions.empty() ? "" : state->positions[static_cast<std::size_t>(rank)];
  auto feed = open_feed_with(peers, training, **task, parts.train_split, position);
  if (!feed) return tl::unexpected<Error>(with_changed_settings(feed.error(), training));
  const auto length = length_of(recipe, feed->samples_per_epoch(), peers);
  auto evaluator = evaluator_of(recipe, evaluation_data->get(), peers);
  auto reporter = rank == 0 ? take_over(training, **task, *state) : Result<std::unique_ptr<Reporter>>(nullptr);
  if (!reporter) return tl::unexpected<Error>(reporter.error());
  if (*reporter) (*reporter)->watch_feed([&feed] { return feed->report(); });
  catch_stop_signals();
  NullTrainingWatcher null_watcher;
  TrainingWatcher& watcher = *reporter ? static_cast<TrainingWatcher&>(**reporter) : null_watcher;
  Trainer trainer({.task = **task,
                   .step = step,
                   .next = [&feed] { return feed->next(); },
                   .evaluate = evaluation_of(**task, recipe, parts),
                   .interrupted = stop_requested,
                   .watcher = watcher,
                   .peers = peers},
                  trainer_options(training, (*task)->dims(), length, std::move(evaluator)), std::move(*state));
  if (*reporter) (*reporter)->watch_ring([&trainer] { return trainer.ring(); });
  auto end = trainer.run();
  if (!end || !*reporter) return end;
  (*reporter)->ended(trainer.state(), *end);
  tell_of_epochs(recipe, trainer.state().step, *end);
  return end;
}

}  // namespace

Result<TrainingEnd> train_whisper(WhisperTraining training) {
  const auto& recipe = training.recipe;
  const auto parts = data_parts(recipe);
  if (auto checked = check_evaluation(recipe, parts.eval_data.has_value()); !checked)
    return tl::unexpected<Error>(checked.error());
  set_compute_threads(recipe.compute_threads, read_cpu().cores);
  const auto group = join_processes(training.out);
  if (!group) return tl::unexpected<Error>(group.error());
  return train_with(group->peers.get(), std::move(training), parts);
}

}  // namespace tutti
