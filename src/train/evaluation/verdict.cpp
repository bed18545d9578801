#include "train/evaluation/verdict.h"

#include "base/json.h"
#include "text/error_rate/wer.h"
#include "text/normaliser.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// Samples of one kind: what was said and heard side by side, and how often nothing was said.
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
  ConditionVerdict verdict() const {
    ConditionVerdict verdict{.samples = std::ssize(references) + silent};
    if (silent > 0) verdict.noise_accuracy = static_cast<double>(kept_silent) / static_cast<double>(silent);
    if (references.empty()) return verdict;
    const auto rates = error_rates(references, hypotheses).value();
    verdict.wer = rates.wer();
    verdict.cer = rates.cer();
    return verdict;
  }
};

}  // namespace

std::string normalised(const std::string& text, const std::string& normaliser) {
  const auto changed = normaliser == "basic"     ? normalise_basic(text)
                       : normaliser == "english" ? normalise_english(text)
                                                 : text;
  return std::string(strip(changed));
}

Evaluation judge_samples(const std::vector<HeardSample>& samples, const std::string& normaliser) {
  Pairs all;
  std::map<std::string, Pairs> by_condition;
  for (const auto& sample : samples) {
    const auto reference = normalised(sample.reference, normaliser);
    const auto hypothesis = normalised(sample.hypothesis, normaliser);
    if (!sample.condition.empty()) by_condition[sample.condition].add(reference, hypothesis);
    all.add(reference, hypothesis);
  }
  const auto whole = all.verdict();
  Evaluation evaluation{
      .wer = whole.wer, .cer = whole.cer, .noise_accuracy = whole.noise_accuracy, .samples = whole.samples};
  for (const auto& [condition, pairs] : by_condition) evaluation.per_condition[condition] = pairs.verdict();
  return evaluation;
}

Result<Evaluation> judge_set(const std::vector<HeardSample>& samples, std::int64_t bad, const std::string& normaliser) {
  if (samples.empty())
    return fail(Fault::corrupt,
                "there is nothing to judge by: none of the set's " + std::to_string(bad) + " samples could be used",
                "See whether its sound files are where it says, and have texts");
  auto evaluation = judge_samples(samples, normaliser);
  evaluation.bad_samples = bad;
  return evaluation;
}

std::string bad_text(const Evaluation& evaluation) {
  if (evaluation.bad_samples == 0) return {};
  return std::to_string(evaluation.bad_samples) + " more could not be used" +
         (evaluation.last_bad.empty() ? std::string() : "; the last one, " + evaluation.last_bad);
}

std::string evaluation_json(const Evaluation& e) {
  Json json{{"wer", e.wer}, {"cer", e.cer}, {"noise_accuracy", e.noise_accuracy}, {"samples", e.samples}};
  json["bad_samples"] = e.bad_samples;
  if (!e.compute_type.empty()) json["compute_type"] = e.compute_type;
  json["per_condition"] = Json::object();
  for (const auto& [condition, verdict] : e.per_condition)
    json["per_condition"][condition] = {{"wer", verdict.wer},
                                        {"cer", verdict.cer},
                                        {"noise_accuracy", verdict.noise_accuracy},
                                        {"samples", verdict.samples}};
  return json_line(json);
}

}  // namespace tutti
