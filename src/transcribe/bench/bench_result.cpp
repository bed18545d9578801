#include "transcribe/bench/bench_result.h"

#include "text/error_rate.h"
#include "text/normaliser.h"

namespace tutti {
namespace {

/// Not behind the English normaliser: it makes one number of spoken digits in a row, and a row that differs in one of
/// them would differ wholly.
double word_errors(const std::string& reference, const std::string& text) {
  return error_rates(std::vector{normalise_basic(reference)}, std::vector{normalise_basic(text)}).value().wer();
}

bool better(const ScoredTrial& one, const ScoredTrial& other) {
  return one.trial.speed() > other.trial.speed();
}

}  // namespace

BenchResult score_trials(const std::vector<BenchTrial>& trials,
                         const std::vector<std::optional<DeviceLimits>>& limits) {
  BenchResult result;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ScoredTrial scored{.trial = trials[i]};
    if (!scored.trial.error) {
      if (!result.reference) result.reference = i;
      scored.word_errors = word_errors(trials[*result.reference].text, scored.trial.text);
      if (limits[i] && scored.trial.elapsed.count() > 0)
        scored.share_of_limit = least_time(*limits[i], scored.trial) / scored.trial.elapsed;
    }
    result.trials.push_back(std::move(scored));
    const bool agrees = result.trials[i].word_errors.value_or(1) <= kAgrees;
    if (agrees && (!result.recommended || better(result.trials[i], result.trials[*result.recommended])))
      result.recommended = i;
  }
  return result;
}

std::string flags_of(const BenchSetting& setting) {
  return "--batched --device " + setting.device + " --compute-type " + setting.compute_type + " --batch-size " +
         std::to_string(setting.batch_size) + " --beam-size None --temperature-increment-on-fallback None";
}

}  // namespace tutti
