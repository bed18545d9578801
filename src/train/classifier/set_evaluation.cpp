#include "train/classifier/set_evaluation.h"

#include "base/json.h"
#include "base/numbers.h"
#include "device/machine.h"
#include "feed/labelled/labelled_set.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/model.h"
#include "train/classifier/task.h"

namespace tutti {
namespace {

constexpr std::int64_t kSegmentsAtOnce = 4096;

Result<void> expect_same_input(const ClassifierModel& model, const LabelledSet& set, const SetEvaluationRequest& r) {
  auto theirs = set.geometry(), ours = model.geometry;
  theirs.name = ours.name = "";
  if (show_geometry(theirs) != show_geometry(ours))
    return fail(Fault::usage,
                r.data.string() + ": its geometry is another than that of " + r.model.string() + ": " +
                    show_geometry(theirs) + " and " + show_geometry(ours),
                "Make the set with the settings of the one that the model was trained on");
  if (set.labels() != model.labels)
    return fail(Fault::usage, r.data.string() + ": its labels are others than those of " + r.model.string());
  return {};
}

std::string percent_text(double share) {
  return fixed_text(100 * share, 2) + " %";
}

std::string for_people(const ClassifierScores& scores, const TaskScores& summary,
                       const std::vector<std::string>& labels) {
  std::string text = summary.text + "\n";
  for (std::size_t label = 0; label < labels.size(); ++label) {
    const auto& score = scores.labels[label];
    text += "  " + labels[label] + ": precision " + percent_text(score.precision) + ", recall " +
            percent_text(score.recall) + ", F1 " + percent_text(score.f1) + ", " + std::to_string(score.files) +
            " files\n";
    for (std::size_t other = 0; other < labels.size(); ++other)
      if (const auto wrong = scores.confusion[label][other]; other != label && wrong > 0)
        text += "    " + std::to_string(wrong) + " taken for " + labels[other] + "\n";
  }
  return text;
}

}  // namespace

Result<std::string> evaluate_classifier(const SetEvaluationRequest& request) {
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = device_named(request.device);
  if (!device) return tl::unexpected<Error>(device.error());
  const auto model = ClassifierModel::load(request.model, *device);
  if (!model) return tl::unexpected<Error>(model.error());
  const auto set = LabelledSet::open(set_file(request.data, request.part));
  if (!set) return tl::unexpected<Error>(set.error());
  if (auto same = expect_same_input(*model, **set, request); !same) return tl::unexpected<Error>(same.error());
  if ((*set)->files() == 0)
    return fail(Fault::usage, set_file(request.data, request.part).string() + ": there is no file to evaluate with",
                "Name another part with --split");
  const auto answers = classify_set(*model, **set, kSegmentsAtOnce, [] { return false; });
  if (!answers) return tl::unexpected<Error>(answers.error());
  const auto scores = score_files(*answers, model->labels.size(), model->rule());
  const auto summary = task_scores(scores, model->labels, model->rule());
  if (!request.json) return for_people(scores, summary, model->labels);
  auto json = nlohmann::ordered_json::parse(summary.json);
  json["confusion"] = scores.confusion;
  return json_line(json) + "\n";
}

}  // namespace tutti
