#include "train/evaluation/evaluate_model.h"

#include <cstdio>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/output_ownership.h"
#include "base/try.h"
#include "device/machine.h"
#include "hub/model_shape.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "profile/machine_watch.h"
#include "profile/recorded_run.h"
#include "public/tutti/feed.h"
#include "train/evaluation/html_report.h"
#include "train/evaluation/recorded_batches.h"
#include "train/evaluation/scores.h"
#include "train/evaluation/set_decoder.h"
#include "train/whisper/feed.h"
#include "train/whisper/labels.h"

namespace tutti {
namespace {

/// Whether the model was trained with timestamps alone, by its folder's generation_config.json.
bool always_times(const std::filesystem::path& model) {
  const auto text = read_file(model / "generation_config.json");
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  return json.is_object() && json.value("return_timestamps", nlohmann::json(false)) == true;
}

/// What the model wrote down, how many samples could not be used, what it computed in, and what limited that.
struct DecodedSet {
  std::vector<SampleResult> samples{};
  std::int64_t bad = 0;
  std::string last_bad{};
  std::string compute_type{};
  std::string device{};
  std::string finding{};
};

void print(const Evaluation& evaluation) {
  std::printf("%s\n", rates_text(rates_of(evaluation)).c_str());
  std::printf("computed in %s on %s\n", evaluation.compute_type.c_str(), evaluation.device.c_str());
  if (const auto bad = bad_text(evaluation); !bad.empty()) std::printf("%s\n", bad.c_str());
  for (const auto& [condition, score] : evaluation.per_condition)
    std::printf("  %-16s %s\n", condition.c_str(), rates_text(score).c_str());
}

Result<DecodedSet> decode_samples(const EvaluationRequest& request, const ChooseComputeType& choose) {
  const auto device = TRY(device_named(request.device));
  const auto type = TRY(choose(request.compute_type, request.model, device));
  const auto model = TRY(WhisperModel::load(request.model, device, type));
  const auto tokenizer = TRY(Tokenizer::load(request.model, model.dims().n_vocab));
  WhisperRecipe recipe;
  recipe.data.eval_samples = request.samples;
  recipe.hardware.threads = request.threads;
  auto options = evaluation_feed(recipe, model.dims(), request.data, request.split);
  options.keyed_tone = takes_keyed_tone(request.model);
  auto feed = TRY(Feed::open(std::move(options)));
  if (const auto conclusion = feed.conclusion(); !conclusion.empty()) log(Level::warning, conclusion);
  const auto start = TRY(start_of_text(tokenizer, request.language, request.task == "translate"));
  RecordedBatches batches(feed);
  RunWatch watch;
  auto decoded = TRY(decode_set(model, tokenizer, {.sot_sequence = start, .timestamps = always_times(request.model)},
                                [&batches] { return batches.next(); }));
  RunRecording recording = batches.end();
  recording.stages.back().on_processor = device.is_cpu();
  const auto finding = TRY(conclude(recording, watch.evidence()));
  const auto report = feed.report();
  return DecodedSet{.samples = std::move(decoded),
                    .bad = report.bad_samples,
                    .last_bad = report.last_bad,
                    .compute_type = std::string(type.name()),
                    .device = device.str(),
                    .finding = finding};
}

}  // namespace

Result<void> evaluate_model(const EvaluationRequest& request, const ChooseComputeType& choose) {
  set_compute_threads(request.threads, read_cpu().cores);
  const auto decoded = TRY(decode_samples(request, choose));
  auto evaluation = score_set(decoded.samples, decoded.bad, request.normaliser);
  if (!evaluation) return fail_in(request.data.string(), evaluation.error());
  evaluation->last_bad = decoded.last_bad;
  evaluation->compute_type = decoded.compute_type;
  evaluation->device = decoded.device;
  if (request.json)
    std::printf("%s\n", evaluation_json(*evaluation).c_str());
  else
    print(*evaluation);
  std::fflush(stdout);
  if (!decoded.finding.empty()) std::fprintf(stderr, "%s\n", decoded.finding.c_str());
  if (request.report.empty()) return {};
  OutputOwnership files("Name another file with " +
                        field("report"));  // what the report is not to replace was refused before
  if (auto claimed = files.claim_marked(request.report, field("report"), kEvaluationMark); !claimed) return claimed;
  return files.write(request.report, evaluation_html(*evaluation, decoded.samples, request.normaliser)).map([](bool) {
  });
}

}  // namespace tutti
