#include "train/whisper/evaluation_policy.h"

#include <algorithm>
#include <vector>

#include "base/field_names.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/content.h"
#include "public/tutti/feed.h"
#include "train/evaluation/set_decoder.h"
#include "train/stop_signals.h"

namespace tutti {

Result<void> check_evaluation(const WhisperRecipe& recipe, bool evaluates) {
  if (evaluates) return {};
  if (recipe.run.patience > 0)
    return fail(Fault::usage,
                "patience: there is nothing to evaluate with, so no evaluation would ever end the training",
                "Name a set with " + field("eval_data") + ", or make a split 'validation' beside 'train'");
  if (recipe.run.eval_steps > 0)
    log(Level::warning,
        "eval-steps: nothing is evaluated, there is no evaluation set; name one with " + field("eval_data"));
  return {};
}

Result<std::unique_ptr<Dataset>> evaluation_set(const DataParts& parts, const Peers* peers) {
  if (!parts.eval_data || (peers && peers->rank() > 0)) return nullptr;
  auto set = open_dataset(*parts.eval_data, parts.eval_split, {});
  if (!set) return fail_in("eval-data", set.error());
  if (const auto conclusion = (*set)->conclusion(); !conclusion.empty()) log(Level::warning, conclusion);
  return set;
}

std::string evaluator_of(const WhisperRecipe& r, const Dataset* set, Peers* peers) {
  std::string own;
  if (set) {
    const auto lines = r.data.eval_samples > 0 ? std::min<std::int64_t>(r.data.eval_samples, set->size()) : set->size();
    own = joined(
        std::vector<std::string>{std::to_string(content_of(*set, lines)), r.data.normaliser.word(), r.targets.language,
                                 r.targets.task.word(), r.data.use_chunking ? "cut" : "whole",
                                 r.targets.timestamps == 1 ? "with times" : "without"},
        "\n");
  }
  return peers ? peers->gather(own).front() : own;
}

TaskScores scores_of(const Evaluation& e) {
  // At equal word error rates, fewer wrong characters are progress too.
  TaskScores scores{.rank = e.wer + 1e-3 * e.cer + 1e-3 * (1 - e.noise_accuracy),
                    .text = rates_text(rates_of(e)),
                    .remark = bad_text(e),
                    .json = evaluation_json(e)};
  if (e.samples > e.noise_samples) scores.metrics = {{"wer", e.wer}, {"cer", e.cer}};
  if (e.noise_samples > 0) scores.metrics.emplace_back("noise_accuracy", e.noise_accuracy);
  return scores;
}

std::function<Result<TaskScores>()> evaluation_of(const WhisperTask& task, const WhisperRecipe& recipe,
                                                  const DataParts& parts, bool keyed_tone) {
  if (!parts.eval_data) return {};
  auto options = evaluation_feed(recipe, task.dims(), *parts.eval_data, parts.eval_split);
  options.keyed_tone = keyed_tone;
  return [&task, options, normaliser = recipe.data.normaliser.word(),
          times = recipe.targets.timestamps == 1]() -> Result<TaskScores> {
    auto feed = TRY(Feed::open(options));
    const auto model = task.snapshot();
    const auto decoded = TRY(
        decode_set(model, task.labels().tokenizer(),
                   {.sot_sequence = task.labels().sot_sequence(), .timestamps = times, .interrupted = stop_requested},
                   [&feed] { return feed.next(); }));
    const auto report = feed.report();
    auto evaluation = score_set(decoded, report.bad_samples, normaliser);
    if (!evaluation) return fail_in(options.data.string(), evaluation.error());
    evaluation->last_bad = report.last_bad;
    evaluation->compute_type = model.type().name();
    return scores_of(*evaluation);
  };
}

}  // namespace tutti
