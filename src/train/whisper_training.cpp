#include "train/whisper_training.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/strings/joined.h"
#include "base/units.h"
#include "feed/feed.h"
#include "feed/recipe/recipe_file.h"
#include "feed/source/content.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "train/changed_settings.h"
#include "train/checkpoint/folder_lock.h"
#include "train/checkpoint/resume.h"
#include "train/report/reporter.h"
#include "train/step/card_precision.h"
#include "train/step/step_memory.h"
#include "train/stop_signals.h"
#include "train/stored_shape.h"
#include "train/whisper_feed.h"
#include "train/whisper_task.h"

namespace tutti {
namespace {

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

Precision precision_of(const WhisperRecipe& r) {
  if (r.precision == "tf32") return Precision::tf32;
  if (r.precision == "bfloat16") return Precision::bfloat16;
  return r.precision == "float16" ? Precision::float16 : Precision::float32;
}

TrainStep step_of(WhisperTask& task, const WhisperRecipe& r, Peers* peers) {
  if (task.device().is_cpu()) keep_step_memory();
  return TrainStep(task, {.beta1 = r.beta1, .beta2 = r.beta2, .epsilon = r.epsilon, .weight_decay = r.weight_decay},
                   {.precision = precision_of(r), .clip = r.clip, .ema = r.ema, .seed = r.seed}, peers);
}

/// Such a training comes out right, and nothing but its speed would tell.
void tell_of_precision(at::Device device, const WhisperRecipe& r) {
  if (!device.is_cuda()) return;
  const auto card = gpu::facts(index_of(device));
  const auto lacking = card ? lacking_for(precision_of(r), card->capability) : std::string();
  if (!lacking.empty()) log(Level::warning, "precision " + r.precision + ": " + lacking);
}

/// As many batches as the recipe has memory for, each as big as its limits allow.
BatchRingOptions ring_of(const WhisperRecipe& r, const WhisperDims& dims) {
  double seconds = r.batch_size * window_of(dims).count();
  if (r.batch_seconds > 0) seconds = std::min(seconds, std::max(r.batch_seconds, window_of(dims).count()));
  const double bytes = seconds * kFramesPerSecond * dims.n_mels * sizeof(float);
  const auto fitting = static_cast<int>(std::min(1000.0, r.ring_megabytes * 1e6 / bytes));
  return {.depth = r.ring_depth, .most_depth = std::max(r.ring_depth, fitting)};
}

TrainerOptions options_of(const WhisperTraining& training, const WhisperDims& dims, const TrainingLength& length,
                          std::string judge) {
  const auto& r = training.recipe;
  return {.out = training.out,
          .schedule = schedule_of(r),
          .length = length,
          .max_steps = r.max_steps,
          .accumulation = r.accumulation,
          .save_steps = r.save_steps,
          .eval_steps = r.eval_steps,
          .keep = r.keep,
          .patience = r.patience,
          .bad_step_limit = r.bad_step_limit,
          .refused = {.count = r.bad_samples, .share = r.bad_share},
          .max_time = Seconds(60 * r.max_minutes),
          .judge = std::move(judge),
          .export_type = r.export_type,
          .settings = training.settings,
          .ring = ring_of(r, dims)};
}

std::optional<int> gpu_of(at::Device device) {
  return device.is_cuda() ? std::optional<int>(index_of(device)) : std::nullopt;
}

NextBatch batches_of(Feed& feed) {
  return [&feed] { return feed.next(); };
}

/// Hears the set that judges with the weights as they are.
std::function<Result<Evaluation>()> evaluation_of(const WhisperTask& task, const WhisperRecipe& recipe,
                                                  const DataParts& parts) {
  if (!parts.eval_data) return {};
  const auto options = evaluation_feed(recipe, task.dims(), *parts.eval_data, parts.eval_split);
  return [&task, options, normaliser = recipe.normaliser, times = recipe.timestamps == 1]() -> Result<Evaluation> {
    auto feed = Feed::open(options);
    if (!feed) return tl::unexpected<Error>(feed.error());
    const auto model = task.snapshot();
    const auto heard =
        listen(model, task.labels().tokenizer(),
               {.sot_sequence = task.labels().sot_sequence(), .timestamps = times, .interrupted = stop_was_asked},
               batches_of(*feed));
    if (!heard) return tl::unexpected<Error>(heard.error());
    const auto report = feed->report();
    auto evaluation = judge_set(*heard, report.bad_samples, normaliser);
    if (!evaluation) return fail_in(options.data.string(), evaluation.error());
    evaluation->last_bad = report.last_bad;
    evaluation->compute_type = model.type().name();
    return evaluation;
  };
}

/// The set to judge by, looked for before anything takes its time. Null where nothing judges, or another process does.
Result<std::unique_ptr<Dataset>> judging_set(const DataParts& parts, const Peers* peers) {
  if (!parts.eval_data || (peers && peers->rank() > 0)) return nullptr;
  auto set = open_dataset(*parts.eval_data, parts.eval_split, {});
  if (!set) return fail_in("eval-data", set.error());
  return set;
}

/// What an evaluation's rates depend on beside the network: for all processes what the first one says, who alone
/// evaluates. A set is what it holds: moved it is the same, changed where it lies another. Asks for every file of it,
/// which takes its time over a network: meanwhile the feed may well read ahead.
std::string judge_of(const WhisperRecipe& r, const Dataset* set, Peers* peers) {
  std::string own;
  if (set) {
    const auto lines = r.eval_samples > 0 ? std::min<std::int64_t>(r.eval_samples, set->size()) : set->size();
    own =
        joined(std::vector<std::string>{std::to_string(content_of(*set, lines)), r.normaliser, r.language, r.task,
                                        r.use_chunking ? "cut" : "whole", r.timestamps == 1 ? "with times" : "without"},
               "\n");
  }
  return peers ? peers->gather(own).front() : own;
}

/// Whether what is asked of evaluations can be had.
Result<void> check_evaluation(const WhisperRecipe& recipe, bool evaluates) {
  if (evaluates) return {};
  if (recipe.patience > 0)
    return fail(Fault::usage, "patience: there is nothing to judge by, so no evaluation would ever end the training",
                "Name a set with --eval-data, or make a split 'validation' beside 'train'");
  if (recipe.eval_steps > 0)
    log(Level::warning, "eval-steps: nothing is evaluated, there is no set to judge by; name one with --eval-data");
  return {};
}

/// The checkpoints to go on from, newest first; none where there are none yet.
Result<std::vector<std::filesystem::path>> checkpoints_of(const WhisperTraining& training) {
  auto found = CheckpointFolder(training.out).newest_first();
  if (!found.empty() && !training.resume)
    return fail(Fault::usage, training.out.string() + " holds a training already",
                "Continue it with --resume, or name another folder");
  if (found.empty() && training.resume)
    log(Level::warning, training.out.string() + ": there is no checkpoint yet, the training starts from the beginning");
  return found;
}

/// The state of the newest checkpoint that can be read. Fails with what is wrong with the newest where none can.
Result<TrainingState> newest_state(const std::vector<std::filesystem::path>& checkpoints, const WhisperTask& task,
                                   TrainStep& step) {
  std::vector<Error> damaged;
  for (const auto& checkpoint : checkpoints) {
    auto state = restore_checkpoint(checkpoint, task, step);
    if (!state) {
      const auto fault = state.error().fault;
      if (fault != Fault::corrupt && fault != Fault::missing) return state;  // it may well be whole
      damaged.push_back(state.error());
      continue;
    }
    for (const auto& error : damaged)
      log(Level::warning, "a checkpoint cannot be used, the training goes on from " + checkpoint.filename().string() +
                              ", the one before it: " + error.what);
    return state;
  }
  auto newest = damaged.front();
  if (newest.hint.empty()) newest.hint = "No checkpoint of this training can be read: begin anew in another folder";
  return tl::unexpected<Error>(std::move(newest));
}

/// Who trains: this process alone, or with others, of whom the first holds the folder.
struct Company {
  OwnedFd folder{};
  std::unique_ptr<Peers> peers{};
};

/// Whoever has met the others finds the checkpoints as a killed process should have left them.
Result<Company> meet_others(const std::filesystem::path& out) {
  const auto place = meeting_place();
  if (!place) return tl::unexpected<Error>(place.error());
  Company company;
  if (!*place || (*place)->rank == 0) {
    auto held = hold_folder(out);
    if (!held) return tl::unexpected<Error>(held.error());
    company.folder = std::move(*held);
    CheckpointFolder(out).put_back();
  }
  if (!*place) return company;
  auto peers = meet(**place);
  if (!peers) return tl::unexpected<Error>(peers.error());
  company.peers = std::move(*peers);
  return company;
}

/// Elsewhere steps that are asked for are made, however many epochs that takes.
void tell_of_epochs(const WhisperRecipe& r, std::int64_t steps, TrainingEnd end) {
  if (end != TrainingEnd::finished || r.epochs == 0 || steps >= r.max_steps || r.max_minutes > 0) return;
  log(Level::info, "epochs " + std::to_string(r.epochs) + " were over after " + std::to_string(steps) +
                       " steps, before max-steps " + std::to_string(r.max_steps) +
                       "; '--resume --epochs 0' goes on until then");
}

/// The settings as they are told and kept, with the shape that a stored network has.
void settle_shape(WhisperTraining& training, const WhisperDims& dims, bool tells) {
  if (training.model.empty()) return;
  const auto unlike = take_stored_shape(training.recipe, dims);
  if (tells && !unlike.empty())
    log(Level::warning, "'model' names a network that keeps its shape; this was asked for and does nothing: " + unlike);
  auto told = read_recipe(training.settings, "settings").value();  // it was read before
  take_stored_shape(told, dims);
  training.settings = show_recipe(told);
}

/// All processes go on from one step.
Result<void> check_agreement(const TrainingState& state, Peers* peers) {
  if (!peers) return {};
  const auto own = std::to_string(state.step);
  for (const auto& theirs : peers->gather(own))
    if (theirs != own)
      return fail(Fault::corrupt, "this process would go on from step " + own + ", another one from step " + theirs,
                  "See that all of them read the same checkpoints");
  return {};
}

/// The state to go on from; a fresh one where there is no checkpoint.
Result<TrainingState> state_of(const WhisperTraining& training, const WhisperTask& task, TrainStep& step,
                               Peers* peers) {
  const auto checkpoints = checkpoints_of(training);
  if (!checkpoints) return tl::unexpected<Error>(checkpoints.error());
  auto state = checkpoints->empty() ? TrainingState{} : newest_state(*checkpoints, task, step);
  if (!state) return state;
  const auto ranks = static_cast<std::size_t>(peers ? peers->ranks() : 1);
  if (!checkpoints->empty() && state->positions.size() != ranks)
    return fail(Fault::usage,
                training.out.string() + " was trained by " + std::to_string(state->positions.size()) +
                    " processes, now there are " + std::to_string(ranks),
                "Go on with as many");
  if (auto agreed = check_agreement(*state, peers); !agreed) return tl::unexpected<Error>(agreed.error());
  return state;
}

/// The first process tells; the others only say what it cannot know.
class Silence : public TrainingWatcher {
 public:
  void stepped(const StepReport&) override {}
  void evaluated(const TrainingState&, const Evaluation&, bool) override {}
  void refused(const std::string& id, const std::string& why) override {
    if (told_.insert(id).second) log(Level::warning, why);
  }

 private:
  std::set<std::string> told_{};
};

Result<std::unique_ptr<Reporter>> reporter_of(const WhisperTraining& training, const WhisperTask& task,
                                              const TrainingState& state) {
  return Reporter::open({.out = training.out,
                         .last_step = state.step,
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
  const auto opened = peers->at_own_pace("opens its data", [&]() -> Result<void> {
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
  for (const auto& said : peers ? peers->gather(own) : std::vector<std::string>{own}) {
    const std::int64_t theirs = std::stoll(said);
    length.least = std::max(length.least, r.epochs * steps_per_epoch(theirs, r));
    length.recordings += r.epochs * theirs;
  }
  return length;
}

/// Begins to report: says what is trained by, and keeps it where --resume looks for it. Not before all processes have
/// accepted it: what is refused must not take the place of what can go on.
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

/// `peers`: the processes that train with this one, or null.
Result<TrainingEnd> train_with(Peers* peers, WhisperTraining training, const DataParts& parts) {
  const auto& recipe = training.recipe;
  const int rank = peers ? peers->rank() : 0;
  auto task = WhisperTask::start(recipe, training.model);
  if (!task) return tl::unexpected<Error>(task.error());
  settle_shape(training, (*task)->dims(), rank == 0);
  if (rank == 0) tell_of_precision((*task)->device(), recipe);
  auto step = step_of(**task, recipe, peers);
  auto state = state_of(training, **task, step, peers);
  if (!state) return tl::unexpected<Error>(with_changed_settings(state.error(), training));
  const auto judging = judging_set(parts, peers);
  if (!judging) return tl::unexpected<Error>(judging.error());
  const auto position = state->positions.empty() ? "" : state->positions[static_cast<std::size_t>(rank)];
  auto feed = open_feed_with(peers, training, **task, parts.train_split, position);
  if (!feed) return tl::unexpected<Error>(with_changed_settings(feed.error(), training));
  const auto length = length_of(recipe, feed->samples_per_epoch(), peers);
  auto judge = judge_of(recipe, judging->get(), peers);
  auto reporter = rank == 0 ? take_over(training, **task, *state) : Result<std::unique_ptr<Reporter>>(nullptr);
  if (!reporter) return tl::unexpected<Error>(reporter.error());
  if (*reporter) (*reporter)->watch_feed([&feed] { return feed->report(); });
  catch_stop_signals();
  Silence silence;
  TrainingWatcher& watcher = *reporter ? static_cast<TrainingWatcher&>(**reporter) : silence;
  Trainer trainer({.task = **task,
                   .step = step,
                   .next = batches_of(*feed),
                   .evaluate = evaluation_of(**task, recipe, parts),
                   .interrupted = stop_was_asked,
                   .watcher = watcher,
                   .peers = peers},
                  options_of(training, (*task)->dims(), length, std::move(judge)), std::move(*state));
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
  if (recipe.compute_threads > 0) at::set_num_threads(recipe.compute_threads);
  const auto company = meet_others(training.out);
  if (!company) return tl::unexpected<Error>(company.error());
  return train_with(company->peers.get(), std::move(training), parts);
}

}  // namespace tutti
