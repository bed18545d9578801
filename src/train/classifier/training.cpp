#include "train/training.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "model/device_name.h"
#include "recipe/checkpoint_names.h"
#include "recipe/recipe_file.h"
#include "train/checkpoint/folder.h"
#include "train/classifier/baseline.h"
#include "train/classifier/comparison.h"
#include "train/classifier/set_facts.h"
#include "train/classifier/task.h"
#include "train/classifier/tuner.h"
#include "train/learner.h"
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
    TRY(check_part(**set, path));
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

void report_set(const TrainingData& data, const ClassifierTask& task, std::int64_t batch_size,
                const ClassifierRecipe& recipe) {
  const auto& g = data.training->geometry();
  warn_of_unlearned_labels(*data.training);
  log(Level::info, "a classifier of " + std::to_string(task.model().labels.size()) + " labels and " +
                       std::to_string(parameter_count(task.weights())) + " parameters on " + task.device().str() +
                       "; " + std::to_string(data.training->rows()) + " segments of " + std::to_string(g.mel.n_mels) +
                       " x " + std::to_string(g.frames()) + " to learn from, " +
                       std::to_string(data.validation->recordings().size()) + " files to choose the best by");
  if (batch_size < recipe.batches.size && recipe.least_steps > 1)
    log(Level::info, "batch-size: " + std::to_string(batch_size) + " instead of " +
                         std::to_string(recipe.batches.size) + ", so that an epoch has " +
                         std::to_string(recipe.least_steps) + " steps; one that is named with " + field("batch_size") +
                         " holds");
}

/// What a training has beside its settings and its set.
struct TrainingExtras {
  const ClassifierModel* before = nullptr;  // a network with whose weights it begins
  /// It only tries settings, reports nothing, and leaves its last scores here. Not its best: those would be chosen by
  /// what they are scored on.
  std::optional<TaskScores>* trial = nullptr;
};

class ClassifierLearner : public Learner<ClassifierRecipe, ClassifierTask> {
 public:
  ClassifierLearner(ClassifierTraining training, TrainingData data, TrainingExtras extras)
      : Learner(std::move(training)), data_(std::move(data)), extras_(extras) {}

  Result<void> start() override {
    TRY(training_.resume ? expect_kept_facts(training_.out, *data_.training) : Result<void>());
    task_ = TRY(ClassifierTask::start(recipe(), data_.training));
    if (extras_.before) task_->begin_with(*extras_.before);
    if (task_->model().is_binary) data_.validation = data_.validation->one_against_rest(task_->model().against);
    batch_size_ = batch_of(data_.training->rows(), recipe().batches.size, recipe().least_steps);
    return {};
  }
  Result<TrainingBatches> open_batches(const std::string& position) override {
    return batches_of_rows(data_.training->rows(), batch_size_, data_.training->fingerprint(), position);
  }
  Result<void> begin() override {
    TRY(keep_set_facts(training_.out, *data_.training));
    if (!extras_.trial) report_set(data_, *task_, batch_size_, recipe());
    return {};
  }
  /// The rate rises for the warm-up's epochs, or for a tenth of all steps where those are fewer.
  std::int64_t warmup(std::int64_t epoch_steps) const override {
    constexpr std::int64_t kTenth = 10;
    const auto& b = recipe().batches;
    const auto all = b.epochs > 0 ? b.epochs * epoch_steps : b.max_steps;
    return std::min(recipe().optimiser.warmup_epochs * epoch_steps, all / kTenth);
  }
  std::string evaluator() override { return std::to_string(data_.validation->fingerprint()); }
  /// Evaluates the network on the validation part, and has it decide as that ranks it.
  std::function<Result<TaskScores>()> evaluation() override {
    return [this]() -> Result<TaskScores> {
      auto found = TRY(scored_on(task_->model(), *data_.validation, recipe().val_batch_size, stop_requested));
      task_->decide_by(found.decision);
      if (extras_.trial) *extras_.trial = found.scores;
      return std::move(found.scores);
    };
  }
  /// A trial's is as deep as its recipe has it, and learns nothing for other trainings.
  RingRequest ring() override {
    auto ring = ring_of(recipe().data, batch_size_, "");
    if (extras_.trial) ring.memory = {};
    return ring;
  }
  bool is_trial() const override { return extras_.trial != nullptr; }

 private:
  TrainingData data_;
  TrainingExtras extras_;
  std::int64_t batch_size_ = 0;
};

/// Trains one network.
Result<TrainingEnd> train(const ClassifierTraining& training, const TrainingData& data, TrainingExtras extras = {}) {
  ClassifierLearner learner(training, data, extras);
  return train_task(learner);
}

/// The first stage: a network in binary mode in OUT/screen, with half of the minutes.
ClassifierTraining screen_of(const ClassifierTraining& training) {
  auto screen = training;
  screen.out = training.out / kScreenFolder;
  screen.recipe.network.two_stage = false;
  screen.recipe.network.binary_mode = true;
  screen.recipe.batches.max_minutes /= 2;
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
    TRY(write_file_atomically(training.out / "config.toml", training.settings));
    const auto group = TRY(join_processes(screen.out));
    log(Level::info, "stage 1 of 2: a network in binary mode, in " + screen.out.string());
    const auto end = train(screen, data);
    if (!end || *end == TrainingEnd::interrupted) return end;
    training.resume = false;
  }
  const auto device = TRY(device_named(training.recipe.arithmetic.device));
  const auto before = TRY(ClassifierModel::load(screen.out / "model", device));
  log(Level::info, "stage 2 of 2: a network of all labels, which begins with that one's weights");
  training.recipe.batches.max_minutes /= 2;
  return train(training, data, {.before = &before});
}

/// What settings are tried on: the parts as they are, or folds of both, where these are small.
struct TrialData {
  std::vector<TrainingData> folds{};
  bool is_crossed() const { return folds.size() > 1; }
};

TrialData trial_data(const TrainingData& data, std::uint64_t seed) {
  constexpr std::int64_t kFolds = 4, kSmallSet = 2000;
  if (data.training->files() + data.validation->files() > kSmallSet) return {{data}};
  const auto all = data.training->with(*data.validation);
  const auto folds = group_folds(*all, kFolds, seed);
  TrialData trial;
  for (std::int64_t fold = 0; fold < folds_in(folds); ++fold) {
    const auto files = files_of_fold(folds, fold);
    trial.folds.push_back({.training = all->of_files(files.learned), .validation = all->of_files(files.held)});
  }
  return trial.is_crossed() ? std::move(trial) : TrialData{{data}};
}

/// "4 folds: accuracy 71.2 %, 80.1 %, ..."; of one fold its own text.
std::string trial_text(const std::vector<TaskScores>& scores) {
  if (scores.size() == 1) return scores.front().text;
  const auto accuracy = [](const TaskScores& one) {
    return fixed_text(100 * nlohmann::json::parse(one.json).value("accuracy", 0.0), 2) + " %";
  };
  return std::to_string(scores.size()) + " folds over groups: accuracy " + joined(scores, ", ", accuracy);
}

/// The mean rank of a trial over its folds.
double mean_rank(const std::vector<TaskScores>& scores) {
  double sum = 0;
  for (const auto& one : scores) sum += one.rank / static_cast<double>(scores.size());
  return sum;
}

/// Trains by a trial's settings in OUT/tuning-trial, fold by fold, and notes what became of it. An error is the trial's
/// where others have worked: a rate that is too high makes numbers that are none.
Result<TrainingEnd> try_settings(const ClassifierTraining& training, const TrialData& data, Seconds left,
                                 TuningTrial& trial, bool may_fail) {
  auto one = training;
  one.out = training.out / "tuning-trial";
  one.resume = false;
  const auto start = Clock::real().now();
  std::error_code ignored;
  std::vector<TaskScores> scores;
  Result<TrainingEnd> end = TrainingEnd::finished;
  for (const auto& fold : data.folds) {
    const Seconds taken = Clock::real().now() - start;
    if (taken >= left) break;
    one.recipe = trial_recipe(training.recipe, trial, left - taken);
    one.settings = show_recipe(one.recipe);
    std::filesystem::remove_all(one.out, ignored);
    TRY(make_folders(one.out));
    std::optional<TaskScores> last;
    end = train(one, fold, {.trial = &last});
    if (!end || *end == TrainingEnd::interrupted || !last) break;
    scores.push_back(*last);
  }
  trial.taken = Clock::real().now() - start;
  std::filesystem::remove_all(one.out, ignored);
  if (!end && !may_fail) return end;
  trial.is_whole = end && trial.taken < left && scores.size() == data.folds.size();
  trial.rank = trial.is_whole ? mean_rank(scores) : 0;
  trial.text = !end ? end.error().what : trial.is_whole ? trial_text(scores) : "the time was over before its epochs";
  return end ? end : Result<TrainingEnd>(TrainingEnd::finished);
}

/// Replaces the settings that are tuned by the best ones of short trainings. Where some were tried before an
/// interruption, they count. `named`: the recipe before the set has settled what it leaves open.
Result<TrainingEnd> tune(ClassifierTraining& training, const ClassifierRecipe& named, const TrainingData& data) {
  const auto record = training.out / "tuning.jsonl";
  auto tried = TRY(training.resume ? read_trials(record) : std::vector<TuningTrial>());
  training.resume = false;
  const Seconds budget(60 * training.recipe.tune_minutes);
  const auto batch = batch_of(data.training->rows(), training.recipe.batches.size, training.recipe.least_steps);
  const auto on = trial_data(data, training.recipe.arithmetic.seed);
  while (has_time_for_trial(tried, budget)) {
    auto left = budget;
    for (const auto& trial : tried) left -= trial.taken;
    auto trial = next_trial(training.recipe, named, batch, tried);
    const auto end = try_settings(training, on, left, trial, !tried.empty());
    if (!end || (*end == TrainingEnd::interrupted && stop_requested())) return end;
    tried.push_back(trial);
    TRY(write_trials(record, tried));
    log(Level::info, "trial " + std::to_string(trial.number + 1) + ": " + settings_text(trial) + ": " + trial.text);
  }
  const auto* best = best_trial(tried);
  if (!best) {
    log(Level::warning, "tune-minutes: no trial was over in time; the settings stay as they are");
    return TrainingEnd::finished;
  }
  log(Level::info, "the best of " + std::to_string(tried.size()) + " trials is trained: " + settings_text(*best));
  training.recipe = with_settings_of(training.recipe, *best);
  training.settings = show_recipe(training.recipe);
  return TrainingEnd::finished;
}

/// Settles what a recipe leaves open by the set: a small one gets a small network, and clips whose level names them
/// keep it.
void settle(ClassifierTraining& training, const LabelledSet& set, const TrainedBaseline& baseline) {
  constexpr std::int64_t kLargeSet = 500, kMiddleSet = 100;
  constexpr std::int32_t kLarge = 32, kMiddle = 16, kSmall = 8;
  constexpr double kGain = 6, kShift = 0.1;
  auto& r = training.recipe;
  if (r.network.channels == 0) {
    r.network.channels = set.files() >= kLargeSet ? kLarge : set.files() >= kMiddleSet ? kMiddle : kSmall;
    if (r.network.hidden == 0) r.network.hidden = kHiddenEach * r.network.channels;
  }
  if (set.geometry().name == "clip") {
    if (r.augmentation.gain_db < 0) {
      r.augmentation.gain_db = baseline.needs_level ? 0 : kGain;
      if (baseline.needs_level)
        log(Level::info,
            "gain-db: 0, for the level of clips helps to name them: the plain baseline names fewer right "
            "without it");
    }
    if (r.augmentation.shift_share < 0) r.augmentation.shift_share = kShift;
  }
  training.settings = show_recipe(r);
}

/// The baseline of a training's set, which learns the labels that the network does.
Result<TrainedBaseline> baseline_of(const ClassifierRecipe& recipe, const LabelledSet& set) {
  const auto against = TRY(against_of(recipe, set));
  if (!recipe.network.binary_mode || against.empty()) return trained_baseline(set, recipe, against);
  return trained_baseline(*set.one_against_rest(against), recipe, against);
}

/// Compares the network with the baseline on the validation part, has OUT/model be the better one, and reports both.
Result<void> conclude(const ClassifierTraining& training, const TrainingData& data, TrainedBaseline& baseline) {
  const auto& r = training.recipe;
  const auto validation =
      baseline.model.is_binary ? data.validation->one_against_rest(baseline.model.against) : data.validation;
  const auto never = [] { return false; };
  const auto own = TRY(scored_on(baseline.model, *validation, r.val_batch_size, never));
  Comparison comparison{.baseline = own.scores, .held_out = "validation part", .recordings = own.recordings};
  baseline.model.decision = own.decision;
  const auto device = TRY(device_named(r.arithmetic.device));
  const auto network = trained_network(training.out, device);
  if (!network && network.error().fault != Fault::missing) return tl::unexpected<Error>(network.error());
  if (network) {
    const auto found = TRY(scored_on(*network, *validation, r.val_batch_size, never));
    comparison.network = found.scores;
  }
  std::optional<ClassifierModel> mixture;
  if (network && baseline.model.against.empty()) {  // a second head has no part in a baseline
    mixture = network->mixed_with(baseline.model);
    const auto both = TRY(scored_on(*mixture, *validation, r.val_batch_size, never));
    comparison.mixture = both.scores;
  }
  const auto metrics = read_file(training.out / "metrics.jsonl");
  if (metrics) comparison.course = loss_course(*metrics);
  TRY(keep_baseline(training.out, baseline.model, r.network.export_type.word()));
  const auto shipped = comparison.ships();
  const ClassifierModel* other = shipped == Shipped::mixture    ? &*mixture
                                 : shipped == Shipped::baseline ? &baseline.model
                                                                : nullptr;
  TRY(ship(training.out, network ? &*network : nullptr, other, r.network.export_type.word()));
  TRY(write_file_atomically(training.out / "result.json", comparison_json(comparison, baseline)));
  const auto text = comparison_text(comparison);
  for (const auto line : split(text, '\n')) log(Level::info, std::string(line));
  if (comparison.course.rises()) log(Level::warning, rising_text(comparison.course));
  return {};
}

}  // namespace

Result<TrainingEnd> train_classifier(ClassifierTraining training) {
  auto data = TRY(open_data(training.recipe.data));
  const auto group = TRY(join_alone(training.out, "a classifier",
                                    "Start one process: its network is small, and one GPU holds the whole set"));
  const bool goes_on = training.resume && !CheckpointFolder(training.out).newest_first().empty();
  const bool tunes = training.recipe.tune_minutes > 0 && !goes_on;  // what has checkpoints was tuned before
  if (tunes) {
    TRY(write_file_atomically(training.out / "config.toml", training.settings));
    const auto own_set = training.out / "set";  // made by this command of recordings, with others beside it
    const bool has_changed =
        TRY(training.recipe.data == own_set ? choose_front_end(own_set, training.recipe) : Result<bool>(false));
    if (has_changed) data = TRY(open_data(training.recipe.data));
  }
  auto baseline = TRY(baseline_of(training.recipe, *data.training));
  const auto named = training.recipe;
  if (!goes_on) settle(training, *data.training, baseline);
  if (tunes) {
    const auto end = tune(training, named, data);
    if (!end || *end == TrainingEnd::interrupted) return end;
  }
  const auto end = training.recipe.network.two_stage ? train_stages(training, data) : train(training, data);
  if (end && *end != TrainingEnd::interrupted) TRY(conclude(training, data, baseline));
  return end;
}

}  // namespace tutti
