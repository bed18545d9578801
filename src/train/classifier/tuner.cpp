#include "train/classifier/tuner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"

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
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::llround(batch), 1, std::max(recipe.batch_size, 1)));
}

Json json_of(const TuningTrial& trial) {
  return {{"trial", trial.number},
          {"learning_rate", trial.learning_rate},
          {"batch_size", trial.batch_size},
          {"dropout", trial.dropout},
          {"seconds", trial.taken.count()},
          {"whole", trial.is_whole},
          {"rank", trial.rank},
          {"result", trial.text}};
}

}  // namespace

TuningTrial next_trial(const ClassifierRecipe& recipe, std::int64_t batch_size, std::span<const TuningTrial> tried) {
  TuningTrial trial{.number = std::ssize(tried),
                    .learning_rate = recipe.learning_rate,
                    .batch_size = static_cast<std::int32_t>(batch_size),
                    .dropout = recipe.dropout};
  if (trial.number == 0) return trial;
  CounterRandom random({recipe.seed, static_cast<std::uint64_t>(trial.number), digest("tuning")});
  const auto* best = best_trial(tried);
  if (best && trial.number % 2 == 0) {
    constexpr double kNear = 0.2, kNearDropout = 0.1;  // decades; share
    trial.learning_rate = best->learning_rate * std::pow(10, kNear * random.normal());
    trial.batch_size = batch_near(best->batch_size * std::pow(2, random.uniform(-1, 1)), recipe);
    trial.dropout = best->dropout + kNearDropout * random.normal();
  } else {
    trial.learning_rate = recipe.learning_rate * std::pow(10, random.uniform(-1, 1));
    trial.batch_size = batch_near(static_cast<double>(batch_size) * std::pow(2, random.uniform(-2, 2)), recipe);
    trial.dropout = random.uniform(0, kMostDropout);
  }
  trial.learning_rate = std::min(rounded(trial.learning_rate), kMostRate);
  trial.dropout = rounded(std::clamp(trial.dropout, 0.01, kMostDropout));
  return trial;
}

ClassifierRecipe with_settings_of(ClassifierRecipe recipe, const TuningTrial& trial) {
  recipe.learning_rate = trial.learning_rate;
  recipe.batch_size = trial.batch_size;
  recipe.least_steps = 1;
  recipe.dropout = trial.dropout;
  return recipe;
}

ClassifierRecipe trial_recipe(const ClassifierRecipe& recipe, const TuningTrial& trial, Seconds most) {
  constexpr std::int32_t kShare = 4, kLeast = 4, kWithoutEpochs = 10;
  auto short_one = with_settings_of(recipe, trial);
  short_one.epochs = recipe.epochs > 0 ? std::max(kLeast, recipe.epochs / kShare) : kWithoutEpochs;
  short_one.max_minutes = most.count() / 60;
  short_one.max_steps = 0;
  short_one.save_steps = 0;
  short_one.keep = 1;
  short_one.two_stage = false;
  short_one.log_order = false;
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
  const auto text = read_regular_file(path);
  if (!text) return tl::unexpected<Error>(text.error());
  for (const auto line : split(*text, '\n')) {
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
         ", dropout " + number_text(trial.dropout);
}

}  // namespace tutti
