#include "train/classifier/tuner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostRate = 10;  // what a recipe takes at most
constexpr double kMostDropout = 0.6;

/// With three digits: what people can read and type again.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return number_in<double>(text).value_or(value);
}

std::int32_t batch_near(double batch, const ClassifierRecipe& recipe) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::llround(batch), 1, std::max(recipe.batches.size, 1)));
}

Json json_of(const TuningTrial& trial) {
  return {{"trial", trial.number},
          {"learning_rate", trial.learning_rate},
          {"batch_size", trial.batch_size},
          {"dropout", trial.dropout},
          {"gain_db", trial.gain_db},
          {"shift_share", trial.shift_share},
          {"mixup", trial.mixup},
          {"use_specaugment", trial.use_specaugment},
          {"channels", trial.channels},
          {"hidden", trial.hidden},
          {"seconds", trial.taken.count()},
          {"whole", trial.is_whole},
          {"rank", trial.rank},
          {"result", trial.text}};
}

using Change = void (*)(TuningTrial&);

/// What trials change of the best settings so far, one thing each: what a recipe leaves open.
std::vector<Change> changes_of(const ClassifierRecipe& settled, const ClassifierRecipe& named) {
  constexpr double kGain = 6, kShort = 0.1, kFar = 0.3, kMixup = 0.2;
  std::vector<Change> changes;
  if (named.augmentation.gain_db < 0 && settled.augmentation.gain_db >= 0)
    changes.push_back([](TuningTrial& t) { t.gain_db = t.gain_db > 0 ? 0 : kGain; });
  if (named.augmentation.shift_share < 0 && settled.augmentation.shift_share >= 0)
    changes.push_back([](TuningTrial& t) { t.shift_share = t.shift_share > kShort ? kShort : kFar; });
  if (!named.augmentation.use_specaugment) changes.push_back([](TuningTrial& t) { t.use_specaugment = true; });
  if (named.augmentation.mixup == 0) changes.push_back([](TuningTrial& t) { t.mixup = kMixup; });
  if (named.network.channels == 0)
    changes.push_back([](TuningTrial& t) {
      constexpr std::int32_t kSmall = 16, kLarge = 32;
      t.channels = t.channels < kLarge ? kLarge : kSmall;
      t.hidden = kHiddenEach * t.channels;
    });
  return changes;
}

/// The recipe's settings as a trial.
TuningTrial own_settings(const ClassifierRecipe& recipe, std::int64_t batch_size) {
  return {.learning_rate = recipe.optimiser.learning_rate,
          .batch_size = static_cast<std::int32_t>(batch_size),
          .dropout = recipe.network.dropout,
          .gain_db = recipe.augmentation.gain_db,
          .shift_share = recipe.augmentation.shift_share,
          .mixup = recipe.augmentation.mixup,
          .use_specaugment = recipe.augmentation.use_specaugment,
          .channels = recipe.network.channels,
          .hidden = recipe.network.hidden};
}

}  // namespace

TuningTrial next_trial(const ClassifierRecipe& recipe, const ClassifierRecipe& named, std::int64_t batch_size,
                       std::span<const TuningTrial> tried) {
  const auto number = std::ssize(tried);
  const auto* best = best_trial(tried);
  TuningTrial trial = best ? *best : own_settings(recipe, batch_size);
  trial.number = number;
  trial.taken = {};
  trial.is_whole = false;
  trial.rank = 0;
  trial.text.clear();
  if (number == 0) return trial;
  const auto changes = changes_of(recipe, named);
  if (number <= std::ssize(changes)) {
    changes[static_cast<std::size_t>(number - 1)](trial);
    return trial;
  }
  CounterRandom random({recipe.arithmetic.seed, static_cast<std::uint64_t>(trial.number), digest("tuning")});
  if (best && trial.number % 2 == 0) {
    constexpr double kNear = 0.2, kNearDropout = 0.1;  // decades; share
    trial.learning_rate = best->learning_rate * std::pow(10, kNear * random.normal());
    trial.batch_size = batch_near(best->batch_size * std::pow(2, random.uniform(-1, 1)), recipe);
    trial.dropout = best->dropout + kNearDropout * random.normal();
  } else {
    trial.learning_rate = recipe.optimiser.learning_rate * std::pow(10, random.uniform(-1, 1));
    trial.batch_size = batch_near(static_cast<double>(batch_size) * std::pow(2, random.uniform(-2, 2)), recipe);
    trial.dropout = random.uniform(0, kMostDropout);
  }
  trial.learning_rate = std::min(rounded(trial.learning_rate), kMostRate);
  trial.dropout = rounded(std::clamp(trial.dropout, 0.01, kMostDropout));
  return trial;
}

ClassifierRecipe with_settings_of(ClassifierRecipe recipe, const TuningTrial& trial) {
  recipe.optimiser.learning_rate = trial.learning_rate;
  recipe.batches.size = trial.batch_size;
  recipe.least_steps = 1;
  recipe.network.dropout = trial.dropout;
  recipe.augmentation.gain_db = trial.gain_db;
  recipe.augmentation.shift_share = trial.shift_share;
  recipe.augmentation.mixup = trial.mixup;
  recipe.augmentation.use_specaugment = trial.use_specaugment;
  recipe.network.channels = trial.channels;
  recipe.network.hidden = trial.hidden;
  return recipe;
}

ClassifierRecipe trial_recipe(const ClassifierRecipe& recipe, const TuningTrial& trial, Seconds most) {
  constexpr std::int32_t kShare = 4, kLeast = 4, kWithoutEpochs = 10;
  auto short_one = with_settings_of(recipe, trial);
  short_one.batches.epochs =
      recipe.batches.epochs > 0 ? std::max(kLeast, recipe.batches.epochs / kShare) : kWithoutEpochs;
  short_one.batches.max_minutes = most.count() / 60;
  short_one.batches.max_steps = 0;
  short_one.run.save_steps = 0;
  short_one.run.keep = 1;
  short_one.network.two_stage = false;
  short_one.run.log_order = false;
  return short_one;
}

const TuningTrial* best_trial(std::span<const TuningTrial> tried) {
  const TuningTrial* best = nullptr;
  for (const auto& trial : tried)
    if (trial.is_whole && (!best || trial.rank < best->rank)) best = &trial;
  return best;
}

bool has_time_for_trial(std::span<const TuningTrial> tried, Seconds budget) {
  Seconds spent{}, whole{};
  std::int64_t count = 0;
  for (const auto& trial : tried) {
    spent += trial.taken;
    if (trial.is_whole) whole += trial.taken;
    count += trial.is_whole;
  }
  const auto left = budget - spent;
  return left > Seconds(0) && (count == 0 || 2 * left >= whole / static_cast<double>(count));
}

Result<std::vector<TuningTrial>> read_trials(const std::filesystem::path& path) {
  std::vector<TuningTrial> tried;
  if (!is_there(path)) return tried;
  const auto text = TRY(read_regular_file(path));
  for (const auto line : split(text, '\n')) {
    const auto json = Json::parse(line, nullptr, false);
    const bool is_trial = json.is_object() && json.value("trial", std::int64_t{-1}) == std::ssize(tried) &&
                          json.value("learning_rate", 0.0) > 0 && json.value("batch_size", 0) > 0;
    if (!is_trial)
      return fail(Fault::corrupt, path.string() + ":" + std::to_string(tried.size() + 1) + ": expected a trial",
                  "Remove the file; the trials are made again then");
    tried.push_back({.number = std::ssize(tried),
                     .learning_rate = json.value("learning_rate", 0.0),
                     .batch_size = json.value("batch_size", 0),
                     .dropout = json.value("dropout", 0.0),
                     .gain_db = json.value("gain_db", -1.0),
                     .shift_share = json.value("shift_share", -1.0),
                     .mixup = json.value("mixup", 0.0),
                     .use_specaugment = json.value("use_specaugment", false),
                     .channels = json.value("channels", 0),
                     .hidden = json.value("hidden", 0),
                     .taken = Seconds(json.value("seconds", 0.0)),
                     .is_whole = json.value("whole", false),
                     .rank = json.value("rank", 0.0),
                     .text = json.value("result", std::string())});
  }
  return tried;
}

Result<void> write_trials(const std::filesystem::path& path, std::span<const TuningTrial> tried) {
  std::string lines;
  for (const auto& trial : tried) lines += json_line(json_of(trial)) + "\n";
  return write_file_atomically(path, lines);
}

std::string settings_text(const TuningTrial& trial) {
  return "learning-rate " + number_text(trial.learning_rate) + ", batch-size " + std::to_string(trial.batch_size) +
         ", dropout " + number_text(trial.dropout) + ", gain-db " + number_text(trial.gain_db) + ", shift-share " +
         number_text(trial.shift_share) + ", mixup " + number_text(trial.mixup) + ", channels " +
         std::to_string(trial.channels) + (trial.use_specaugment ? ", use-specaugment" : "");
}

}  // namespace tutti
