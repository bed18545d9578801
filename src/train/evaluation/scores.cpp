#include "train/evaluation/scores.h"

#include "base/json.h"
#include "base/numbers.h"
#include "text/error_rate.h"
#include "text/normaliser.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// Samples of one kind: references and hypotheses side by side, and how many references are empty.
struct Pairs {
  std::vector<std::string> references{};
  std::vector<std::string> hypotheses{};
  std::int64_t silent = 0, kept_silent = 0;

  void add(const std::string& reference, const std::string& hypothesis) {
    if (reference.empty()) {
      ++silent;
      kept_silent += hypothesis.empty() ? 1 : 0;
      return;
    }
    references.push_back(reference);
    hypotheses.push_back(hypothesis);
  }
  ConditionScore score() const {
    ConditionScore score{.samples = std::ssize(references) + silent, .noise_samples = silent};
    if (silent > 0) score.noise_accuracy = static_cast<double>(kept_silent) / static_cast<double>(silent);
    if (references.empty()) return score;
    const auto rates = error_rates(references, hypotheses).value();
    score.wer = rates.wer();
    score.cer = rates.cer();
    return score;
  }
};

Json rates_json(const ConditionScore& v) {
  return {{"wer", v.wer},
          {"cer", v.cer},
          {"noise_accuracy", v.noise_accuracy},
          {"samples", v.samples},
          {"noise_samples", v.noise_samples}};
}

}  // namespace

std::string normalised(const std::string& text, const std::string& normaliser) {
  const auto changed = normaliser == "basic"     ? normalise_basic(text)
                       : normaliser == "english" ? normalise_english(text)
                                                 : text;
  return std::string(strip(changed));
}

Evaluation score_samples(const std::vector<SampleResult>& samples, const std::string& normaliser) {
  Pairs all;
  std::map<std::string, Pairs> by_condition;
  for (const auto& sample : samples) {
    const auto reference = normalised(sample.reference, normaliser);
    const auto hypothesis = normalised(sample.hypothesis, normaliser);
    if (!sample.condition.empty()) by_condition[sample.condition].add(reference, hypothesis);
    all.add(reference, hypothesis);
  }
  const auto whole = all.score();
  Evaluation evaluation{.wer = whole.wer,
                        .cer = whole.cer,
                        .noise_accuracy = whole.noise_accuracy,
                        .samples = whole.samples,
                        .noise_samples = whole.noise_samples};
  for (const auto& [condition, pairs] : by_condition) evaluation.per_condition[condition] = pairs.score();
  return evaluation;
}

Result<Evaluation> score_set(const std::vector<SampleResult>& samples, std::int64_t bad,
                             const std::string& normaliser) {
  if (samples.empty())
    return fail(
        Fault::corrupt,
        "there is nothing to evaluate with: none of the set's " + std::to_string(bad) + " samples could be used",
        "See whether its audio files are at the paths that it names, and have texts");
  auto evaluation = score_samples(samples, normaliser);
  evaluation.bad_samples = bad;
  return evaluation;
}

ConditionScore rates_of(const Evaluation& e) {
  return {.wer = e.wer,
          .cer = e.cer,
          .noise_accuracy = e.noise_accuracy,
          .samples = e.samples,
          .noise_samples = e.noise_samples};
}

std::string rates_text(const ConditionScore& v) {
  std::string text;
  if (v.samples > v.noise_samples)
    text = "WER " + fixed_text(100 * v.wer, 2) + " %, CER " + fixed_text(100 * v.cer, 2) + " %, ";
  if (v.noise_samples > 0) text += "silence recognised as silence " + fixed_text(100 * v.noise_accuracy, 1) + " %, ";
  return text + std::to_string(v.samples) + " samples";
}

std::string bad_text(const Evaluation& evaluation) {
  if (evaluation.bad_samples == 0) return {};
  return std::to_string(evaluation.bad_samples) + " more could not be used" +
         (evaluation.last_bad.empty() ? std::string() : "; the last one, " + evaluation.last_bad);
}

std::string evaluation_json(const Evaluation& e) {
  Json json = rates_json(rates_of(e));
  json["bad_samples"] = e.bad_samples;
  if (!e.compute_type.empty()) json["compute_type"] = e.compute_type;
  json["per_condition"] = Json::object();
  for (const auto& [condition, score] : e.per_condition) json["per_condition"][condition] = rates_json(score);
  return json_line(json);
}

}  // namespace tutti
