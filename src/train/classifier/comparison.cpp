#include "train/classifier/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "train/checkpoint/folder.h"
#include "train/classifier/task.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// The half of a validation part that chooses a threshold, where there is one; the other half chooses the network. All
/// files of a group are in one half.
bool chooses_threshold(const LabelledSet& set, std::int64_t file) {
  return mixed({digest("threshold"), digest(set.group_of_file(file))}) % 2 == 0;
}

Result<void> write_model(const std::filesystem::path& path, const ClassifierModel& model, const std::string& type) {
  return write_network(path, {.files = model.files(type), .weights = model.weights, .weight_type = type});
}

/// The mean F1 over labels: a rank without the loss that breaks its ties. 0 where nothing was scored.
double macro_f1_of(const TaskScores& scores) {
  const auto found = std::ranges::find(scores.metrics, "macro_f1", &std::pair<std::string, double>::first);
  return found == scores.metrics.end() ? 0 : found->second;
}

Json json_of(const TaskScores& scores) {
  return scores.text.empty() ? Json() : Json::parse(scores.json);
}

}  // namespace

Result<ModelScores> scored_on(ClassifierModel model, const LabelledSet& set, std::int64_t batch_size,
                              const std::function<bool()>& interrupted) {
  auto answers = TRY(classify_set(model, set, batch_size, interrupted));
  const auto label = model.rule().label;
  if (label >= 0) {
    std::vector<FileAnswer> sweeping, ranking;
    for (auto& answer : answers) (chooses_threshold(set, answer.first) ? sweeping : ranking).push_back(answer);
    if (!sweeping.empty() && !ranking.empty()) {
      model.decision = {.threshold = swept_threshold(decided_files(sweeping, label))};
      answers = std::move(ranking);
    }
  }
  const auto rule = model.rule();
  return ModelScores{task_scores(score_files(answers, set.labels().size(), rule), set.labels(), rule), rule.decision,
                     std::ssize(answers)};
}

bool LossCourse::rises() const {
  constexpr std::int64_t kEnough = 3;
  constexpr double kShare = 1.25, kNoise = 0.05;
  return evaluations >= kEnough && last > kShare * least + kNoise;
}

LossCourse loss_course(std::string_view metrics) {
  LossCourse course;
  for (const auto line : split(metrics, '\n')) {
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("evaluation") || !json["evaluation"].contains("loss")) continue;
    course.last = json["evaluation"].value("loss", 0.0);
    course.last_step = json.value("step", std::int64_t{0});
    if (course.evaluations++ > 0 && course.last >= course.least) continue;
    course.least = course.last;
    course.least_step = course.last_step;
  }
  return course;
}

double Comparison::margin() const {
  if (recordings == 0) return 0;
  return 0.5 * standard_error(1 - baseline.rank, recordings);
}

std::string_view name_of(Shipped shipped) {
  switch (shipped) {
    case Shipped::network: return "network";
    case Shipped::baseline: return "baseline";
    case Shipped::mixture: break;
  }
  return "mixture";
}

Shipped Comparison::ships() const {
  const bool is_mixture_good = !mixture.text.empty() && macro_f1_of(mixture) > macro_f1_of(baseline) &&
                               std::max(mixture.rank - network.rank, network.rank - baseline.rank) <= 2 * margin();
  if (is_mixture_good) return Shipped::mixture;
  return ships_baseline() ? Shipped::baseline : Shipped::network;
}

std::string comparison_text(const Comparison& c) {
  const auto scores = [](const TaskScores& one) { return one.text.empty() ? std::string("none") : one.text; };
  const auto shipped = c.ships();
  return "on the " + c.held_out + ":\n  network:  " + scores(c.network) + "\n  baseline: " + scores(c.baseline) +
         " (logistic regression on mean and deviation of bands)\n" +
         (c.mixture.text.empty() ? "" : "  mixture:  " + scores(c.mixture) + " (mean of both's log-probabilities)\n") +
         (shipped == Shipped::mixture    ? "the mixture becomes the model; OUT/network and OUT/baseline are its parts"
          : shipped == Shipped::baseline ? "the network is not clearly better: the baseline becomes the model, "
                                           "OUT/network is the network"
                                         : "the network is better, and is the model; the baseline is in OUT/baseline");
}

std::string rising_text(const LossCourse& course) {
  return "the loss on the validation part rose from " + fixed_text(course.least, 2) + " (step " +
         std::to_string(course.least_step) + ") to " + fixed_text(course.last, 2) + " (step " +
         std::to_string(course.last_step) +
         "): the network learned its clips by heart. More recordings help, or a smaller network, dropout, "
         "use-specaugment and mixup; " +
         field("tune_minutes") + " tries them";
}

std::string comparison_json(const Comparison& c, const TrainedBaseline& baseline) {
  Json json{{"ships", name_of(c.ships())},        {"held_out", c.held_out},
            {"recordings", c.recordings},         {"margin", c.margin()},
            {"network", json_of(c.network)},      {"baseline", json_of(c.baseline)},
            {"mixture", json_of(c.mixture)},      {"baseline_strength", baseline.strength},
            {"needs_level", baseline.needs_level}};
  if (c.course.evaluations > 0)
    json["validation_loss"] = {{"least", c.course.least},
                               {"least_step", c.course.least_step},
                               {"last", c.course.last},
                               {"last_step", c.course.last_step},
                               {"rises", c.course.rises()}};
  return json.dump(1) + "\n";
}

Result<void> keep_baseline(const std::filesystem::path& out, const ClassifierModel& baseline, const std::string& type) {
  return write_model(out / "baseline", baseline, type);
}

Result<ClassifierModel> trained_network(const std::filesystem::path& out, at::Device device) {
  auto model = ClassifierModel::load(out / "model", device);
  const bool is_other = model && (model->is_baseline || model->is_mixed);
  if (model ? !is_other : model.error().fault != Fault::missing) return model;
  return ClassifierModel::load(out / "network", device);
}

Result<void> ship(const std::filesystem::path& out, const ClassifierModel* network, const ClassifierModel* other,
                  const std::string& type) {
  if (network && other) TRY(write_model(out / "network", *network, type));
  if (other) return write_model(out / "model", *other, type);
  const auto there = TRY(ClassifierModel::load(out / "model", at::kCPU));
  if (there.is_baseline || there.is_mixed) TRY(write_model(out / "model", *network, type));
  std::error_code ignored;
  std::filesystem::remove_all(out / "network", ignored);  // of an evaluation before, where another model was better
  return {};
}

}  // namespace tutti
