#include "train/classifier/set_evaluation.h"

#include <algorithm>
#include <utility>

#include "base/field_names.h"
#include "base/json.h"
#include "base/log.h"
#include "base/output_ownership.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/machine.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_waveforms.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "train/classifier/model.h"
#include "train/classifier/set_report.h"
#include "train/classifier/task.h"

namespace tutti {
namespace {

constexpr std::int64_t kSegmentsAtOnce = 4096;

/// What differs: "sample_rate 8000 (the model has 4096), n_mels 32 (the model has 64)"; empty: nothing.
std::string differences(const AudioGeometry& set, const AudioGeometry& model) {
  const auto theirs = nlohmann::ordered_json::parse(show_geometry(set));
  const auto ours = nlohmann::ordered_json::parse(show_geometry(model));
  std::vector<std::string> all;
  for (const auto& [key, value] : theirs.items())
    if (key != "preset" && ours.value(key, nlohmann::ordered_json()) != value)
      all.push_back(key + " " + value.dump() + " (the model has " + ours.value(key, nlohmann::ordered_json()).dump() +
                    ")");
  return joined(all, ", ");
}

Result<void> expect_same_input(const ClassifierModel& model, const LabelledSet& set, const SetEvaluationRequest& r) {
  if (const auto unlike = differences(set.geometry(), model.geometry); !unlike.empty())
    return fail(Fault::usage,
                r.data.string() + ": its geometry is another than that of " + r.model.string() + ": " + unlike,
                "Make the set with the settings of the one that the model was trained on");
  if (set.labels() != model.labels)
    return fail(Fault::usage, r.data.string() + ": its labels are " + joined(set.labels(), ", ") + "; those of " +
                                  r.model.string() + " are " + joined(model.labels, ", "));
  return {};
}

/// What the page plays; without it the page is as good.
ReportAudio audio_of(const SetEvaluationRequest& r, const LabelledSet& set) {
  if (!r.audio.empty()) return {.folder = r.audio};
  auto waveforms = SetWaveforms::open(r.data, r.part, set);
  if (waveforms) return {.waveforms = std::move(*waveforms)};
  log(Level::warning, "the report has no players: " + waveforms.error().text());
  return {};
}

}  // namespace

Result<std::string> evaluate_classifier(const SetEvaluationRequest& request, SerialRun* phases) {
  SerialRun unseen;
  SerialRun& timed = phases ? *phases : unseen;
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = TRY(device_named(request.device));
  const auto model = TRY(ClassifierModel::load(request.model, device));
  auto set =
      timed.measure("reading of the set", [&] { return LabelledSet::open(set_file(request.data, request.part)); });
  if (!set) return tl::unexpected<Error>(set.error());
  if (model.is_binary && std::ranges::find((*set)->labels(), model.against) != (*set)->labels().end())
    set = (*set)->one_against_rest(model.against);
  TRY(expect_same_input(model, **set, request));
  if ((*set)->files() == 0)
    return fail(Fault::usage, set_file(request.data, request.part).string() + ": there is no file to evaluate with",
                "Name another part with " + field("split"));
  const auto answers = TRY(
      timed.measure("the network", [&] { return classify_set(model, **set, kSegmentsAtOnce, [] { return false; }); }));
  const auto scored = scored_set(**set, answers, model.labels, model.rule());
  if (!request.report.empty()) {
    OutputOwnership files("Name another file with " + field("report"));  // what it is not to replace was refused before
    TRY(files.claim_marked(request.report, field("report"), kEvaluationMark));
    TRY(files.write(request.report, set_report_html(scored, audio_of(request, **set))));
  }
  return request.json ? set_report_json(scored) : set_report_text(scored);
}

}  // namespace tutti
