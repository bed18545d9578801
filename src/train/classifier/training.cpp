#include "train/training.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "device/machine.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "recipe/checkpoint_names.h"
#include "recipe/recipe_file.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/resume.h"
#include "train/classifier/set_facts.h"
#include "train/classifier/task.h"
#include "train/classifier/tuner.h"
#include "train/optimiser_step/step_memory.h"
#include "train/stop_signals.h"
#include "train/trainings.h"

namespace tutti {
namespace {

/// The set in its parts.
struct TrainingData {
  std::shared_ptr<const LabelledSet> training{};
  std::shared_ptr<const LabelledSet> validation{};
};

/// Which labels have a file in this part of a set.
std::vector<bool> labels_with_files(const LabelledSet& set) {
  std::vector<bool> seen(set.labels().size());
  for (std::int64_t file = 0; file < set.files(); ++file)
    seen[static_cast<std::size_t>(set.label_of_file(file))] = true;
  return seen;
}

/// Names the labels that nothing is learned of: their accuracy is that of no answer.
void warn_of_unlearned_labels(const LabelledSet& set) {
  const auto seen = labels_with_files(set);
  std::vector<std::string> names;
  for (std::size_t label = 0; label < seen.size(); ++label)
    if (!seen[label]) names.push_back(set.labels()[label]);
  if (!names.empty())
    log(Level::warning, "no file is there to learn " + joined(names, ", ") + " from: the part for training has none");
}

/// Fault::usage for a part that holds nothing to learn from.
Result<void> check_part(const LabelledSet& set, const std::filesystem::path& path) {
  const auto labels = std::ranges::count(labels_with_files(set), true);
  if (labels >= 2) return {};
  return fail(Fault::usage, path.string() + ": expected files of two labels or more, found " +
                                std::to_string(set.files()) + " files of " + std::to_string(labels) + " labels");
}

Result<TrainingData> open_data(const std::filesystem::path& folder) {
  TrainingData data;
  for (const auto part : {SetPart::training, SetPart::validation}) {
    const auto path = set_file(folder, part);
    auto set = LabelledSet::open(path);
    if (!set && set.error().fault == Fault::missing && !is_there(path))
      return fail(Fault::missing, path.string() + ": no such file",
                  "Make a set with 'tutti prepare classifier --data DIR --out " + folder.string() + "'");
    if (!set) return tl::unexpected<Error>(set.error());
    if (auto checked = check_part(**set, path); !checked) return tl::unexpected<Error>(checked.error());
    (part == SetPart::training ? data.training : data.validation) = std::move(*set);
  }
  const auto show = [](const LabelledSet& set) { return show_geometry(set.geometry()); };
  if (data.training->labels() != data.validation->labels() || show(*data.training) != show(*data.validation))
    return fail(Fault::corrupt,
                folder.string() +
                    ": the parts for training and validation have other labels, or "
                    "another geometry",
                "Make both with one 'tutti prepare classifier'");
  return data;
}

Error with_changed_settings(Error error, const ClassifierTraining& training) {
  return with_changed_settings(
      std::move(error), training.out, training.settings,
      [](const std::string& text, const char* name) { return read_classifier_recipe(text, name); });
}

/// The rate rises for the warm-up's epochs, or for a tenth of all steps where those are fewer.
RateSchedule schedule_of(const ClassifierRecipe& r, std::int64_t epoch_steps) {
  const auto all = r.epochs > 0 ? r.epochs * epoch_steps : r.max_steps;
  constexpr std::int64_t kTenth = 10;
  return {.shape = schedule_shape(r.schedule),
          .peak = r.learning_rate,
          .warmup = std::min(r.warmup_epochs * epoch_steps, all / kTenth),
          .final_share = r.final_rate};
}

void report_set(const TrainingData& data, const ClassifierTask& task, std::int64_t batch_size,
                const ClassifierRecipe& recipe) {
  const auto& g = data.training->geometry();
  warn_of_unlearned_labels(*data.training);
  log(Level::info, "a classifier of " + std::to_string(task.model().labels.size()) + " labels and " +
                       std::to_string(parameter_count(task.weights())) + " parameters on " + task.device().str() +
                       "; " + std::to_string(data.training->rows()) + " segments of " + std::to_string(g.mel.n_mels) +
                       " x " + std::to_string(g.frames()) + " to learn from, " +
                       std::to_string(data.validation->files()) + " files to choose the best by");
  if (batch_size < recipe.batch_size && recipe.least_steps > 1)
    log(Level::info, "batch-size: " + std::to_string(batch_size) + " instead of " + std::to_string(recipe.batch_size) +
                         ", so that an epoch has " + std::to_string(recipe.least_steps) +
                         " steps; one that is named with " + field("batch_size") + " holds");
}

/// The half of a validation part that chooses a threshold, where there is one; the other half chooses the network. All
/// files of a group are in one half.
bool chooses_threshold(const LabelledSet& set, std::int64_t file) {
  return mixed({digest("threshold"), digest(set.group_of_file(file))}) % 2 == 0;
}

/// Evaluates the network on the validation part: with a second head, the threshold of its decision is swept on one half
/// of the files, and the other half ranks the network.
Result<TaskScores> evaluated(ClassifierTask& task, const LabelledSet& set, std::int64_t batch_size) {
  auto answers = classify_set(task.model(), set, batch_size, stop_requested);
  if (!answers) return tl::unexpected<Error>(answers.error());
  const auto label = task.model().rule().label;
  if (label >= 0) {
    std::vector<FileAnswer> sweeping, ranking;
    for (std::int64_t file = 0; file < set.files(); ++file)
      (chooses_threshold(set, file) ? sweeping : ranking).push_back((*answers)[static_cast<std::size_t>(file)]);
    if (!sweeping.empty() && !ranking.empty()) {
      task.decide_by({.threshold = swept_threshold(decided_files(sweeping, label))});
      answers = std::move(ranking);
    }
  }
  const auto rule = task.model().rule();
  return task_scores(score_files(*answers, set.labels().size(), rule), set.labels(), rule);
}

/// The best evaluation of a training.
struct BestScores {
  std::optional<TaskScores> scores{};
};

/// What a training has beside its settings and its set.
struct TrainingExtras {
  const ClassifierModel* before = nullptr;  // a network with whose weights it begins
  BestScores* trial = nullptr;              // it only tries settings, reports nothing, and leaves its best scores here
};

/// Trains one network.
Result<TrainingEnd> train(const ClassifierTraining& training, TrainingData data, TrainingExtras extras = {}) {
  const auto& r = training.recipe;
  if (auto same = training.resume ? expect_kept_facts(training.out, *data.training) : Result<void>(); !same)
    return tl::unexpected<Error>(same.error());
  auto task = ClassifierTask::start(r, data.training);
  if (!task) return tl::unexpected<Error>(task.error());
  if (extras.before) (*task)->begin_with(*extras.before);
  if ((*task)->model().is_binary) data.validation = data.validation->one_against_rest((*task)->model().against);
  warn_of_precision((*task)->device(), r.precision);
  if (auto set_up = set_up_step_memory(**task, r.device_memory); !set_up) return tl::unexpected<Error>(set_up.error());
  TrainStep step(**task, {.weight_decay = r.weight_decay},
                 {.precision = step_precision(r.precision), .clip = r.clip, .ema = r.ema, .seed = r.seed});
  auto state = state_to_go_on_from(training.out, training.resume, **task, step, nullptr);
  if (!state) return tl::unexpected<Error>(with_changed_settings(state.error(), training));
  const auto rows = data.training->rows();
  const auto batch_size = batch_of(rows, r.batch_size, r.least_steps);
  auto batches = LabelledBatches::open({.rows = rows,
                                        .batch_size = batch_size,
                                        .epochs = r.epochs,
                                        .seed = r.seed,
                                        .fingerprint = data.training->fingerprint()},
                                       state->positions.empty() ? "" : state->positions.front());
  if (!batches) return tl::unexpected<Error>(with_changed_settings(batches.error(), training));
  if (auto kept = keep_set_facts(training.out, *data.training); !kept) return tl::unexpected<Error>(kept.error());
  const auto steps = [&](std::int64_t samples) { return steps_of(samples, batch_size, r.accumulation); };
  const auto length = length_of(rows, steps, r.epochs, r.max_steps, nullptr);
  if (!extras.trial) report_set(data, **task, batch_size, r);
  const auto evaluate = [&]() {
    auto scores = evaluated(**task, *data.validation, r.val_batch_size);
    if (extras.trial && scores && !(extras.trial->scores && extras.trial->scores->rank <= scores->rank))
      extras.trial->scores = *scores;
    return scores;
  };
  return (extras.trial ? run_trial : run_training)(
      {.task = **task,
       .step = step,
       .next = [&batches] { return Result<std::optional<Batch>>(batches->next()); },
       .evaluate = evaluate,
       .options = options_of(training, schedule_of(r, steps(rows)), length, data.validation->fingerprint()),
       .ring = {.training = ring_training(kClassifierTraining, r.data, batch_size, "", (*task)->device().str()),
                .depth = r.ring_depth},
       .log_steps = r.log_steps,
       .log_order = r.log_order,
       .epochs = r.epochs},
      std::move(*state));
}

/// The first stage: a network in binary mode in OUT/screen, with half of the minutes.
ClassifierTraining screen_of(const ClassifierTraining& training) {
  auto screen = training;
  screen.out = training.out / kScreenFolder;
  screen.recipe.two_stage = false;
  screen.recipe.binary_mode = true;
  screen.recipe.max_minutes /= 2;
  screen.settings = show_recipe(screen.recipe);
  screen.resume = !CheckpointFolder(screen.out).newest_first().empty() && training.resume;
  return screen;
}

/// Both stages. The second has begun once it has a checkpoint; until then --resume goes on with the first, which is
/// over at once where it had come to its end.
Result<TrainingEnd> train_stages(ClassifierTraining training, const TrainingData& data) {
  const bool has_begun = !CheckpointFolder(training.out).newest_first().empty();
  const auto screen = screen_of(training);
  if (!has_begun) {
    if (auto kept = write_file_atomically(training.out / "config.toml", training.settings); !kept)
      return tl::unexpected<Error>(kept.error());
    const auto group = join_processes(screen.out);
    if (!group) return tl::unexpected<Error>(group.error());
    log(Level::info, "stage 1 of 2: a network in binary mode, in " + screen.out.string());
    const auto end = train(screen, data);
    if (!end || *end == TrainingEnd::interrupted) return end;
    training.resume = false;
  }
  const auto device = device_named(training.recipe.device);
  if (!device) return tl::unexpected<Error>(device.error());
  const auto before = ClassifierModel::load(screen.out / "model", *device);
  if (!before) return tl::unexpected<Error>(before.error());
  log(Level::info, "stage 2 of 2: a network of all labels, which begins with that one's weights");
  training.recipe.max_minutes /= 2;
  return train(training, data, {.before = &*before});
}

/// Trains by a trial's settings in OUT/tuning-trial, and notes what became of it. An error is the trial's where others
/// have worked: a rate that is too high makes numbers that are none.
Result<TrainingEnd> try_settings(const ClassifierTraining& training, const TrainingData& data, Seconds left,
                                 TuningTrial& trial, bool may_fail) {
  auto one = training;
  one.out = training.out / "tuning-trial";
  one.resume = false;
  one.recipe = trial_recipe(training.recipe, trial, left);
  one.settings = show_recipe(one.recipe);
  std::error_code ignored;
  std::filesystem::remove_all(one.out, ignored);
  if (auto made = make_folders(one.out); !made) return tl::unexpected<Error>(made.error());
  BestScores best;
  const auto start = Clock::real().now();
  const auto end = train(one, data, {.trial = &best});
  trial.taken = Clock::real().now() - start;
  std::filesystem::remove_all(one.out, ignored);
  if (!end && !may_fail) return end;
  trial.is_whole = end && *end != TrainingEnd::interrupted && trial.taken < left && best.scores;
  trial.rank = trial.is_whole ? best.scores->rank : 0;
  trial.text = !end ? end.error().what : trial.is_whole ? best.scores->text : "the time was over before its epochs";
  return end ? end : Result<TrainingEnd>(TrainingEnd::finished);
}

/// Replaces the settings that are tuned by the best ones of short trainings. Where some were tried before an
/// interruption, they count. A training that has checkpoints was tuned before.
Result<TrainingEnd> tune(ClassifierTraining& training, const TrainingData& data) {
  const auto record = training.out / "tuning.jsonl";
  if (training.resume && !CheckpointFolder(training.out).newest_first().empty()) return TrainingEnd::finished;
  auto tried = training.resume ? read_trials(record) : std::vector<TuningTrial>();
  if (!tried) return tl::unexpected<Error>(tried.error());
  training.resume = false;
  if (auto kept = write_file_atomically(training.out / "config.toml", training.settings); !kept)
    return tl::unexpected<Error>(kept.error());
  const Seconds budget(60 * training.recipe.tune_minutes);
  const auto batch = batch_of(data.training->rows(), training.recipe.batch_size, training.recipe.least_steps);
  while (has_time_for_trial(*tried, budget)) {
    auto left = budget;
    for (const auto& trial : *tried) left -= trial.taken;
    auto trial = next_trial(training.recipe, batch, *tried);
    const auto end = try_settings(training, data, left, trial, !tried->empty());
    if (!end || (*end == TrainingEnd::interrupted && stop_requested())) return end;
    tried->push_back(trial);
    if (auto written = write_trials(record, *tried); !written) return tl::unexpected<Error>(written.error());
    log(Level::info, "trial " + std::to_string(trial.number + 1) + ": " + settings_text(trial) + ": " + trial.text);
  }
  const auto* best = best_trial(*tried);
  if (!best) {
    log(Level::warning, "tune-minutes: no trial was over in time; the settings stay as they are");
    return TrainingEnd::finished;
  }
  log(Level::info, "the best of " + std::to_string(tried->size()) + " trials is trained: " + settings_text(*best));
  training.recipe = with_settings_of(training.recipe, *best);
  training.settings = show_recipe(training.recipe);
  return TrainingEnd::finished;
}

}  // namespace

Result<TrainingEnd> train_classifier(ClassifierTraining training) {
  set_compute_threads(training.recipe.compute_threads, read_cpu().cores);
  const auto data = open_data(training.recipe.data);
  if (!data) return tl::unexpected<Error>(data.error());
  const auto group = join_processes(training.out);
  if (!group) return tl::unexpected<Error>(group.error());
  if (group->peers)
    return fail(Fault::usage, "a classifier is trained by one process",
                "Start one process: its network is small, and one GPU holds the whole set");
  if (training.recipe.tune_minutes > 0) {
    const auto end = tune(training, *data);
    if (!end || *end == TrainingEnd::interrupted) return end;
  }
  return training.recipe.two_stage ? train_stages(std::move(training), *data) : train(training, *data);
}

}  // namespace tutti
