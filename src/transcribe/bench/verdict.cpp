#include "transcribe/bench/verdict.h"

#include "text/error_rate/wer.h"
#include "text/normaliser.h"

namespace tutti {
namespace {

/// Not behind the English normaliser: it makes one number of digits said in a row, and a row that differs in one of
/// them would differ wholly.
double word_errors(const std::string& reference, const std::string& text) {
  return error_rates(std::vector{normalise_basic(reference)}, std::vector{normalise_basic(text)}).value().wer();
}

bool better(const JudgedTrial& one, const JudgedTrial& other) {
  return one.trial.speed() > other.trial.speed();
}

}  // namespace

BenchVerdict judge(const std::vector<BenchTrial>& trials, const std::vector<std::optional<DeviceLimits>>& limits) {
  BenchVerdict verdict;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    JudgedTrial judged{.trial = trials[i]};
    if (!judged.trial.error) {
      if (!verdict.reference) verdict.reference = i;
      judged.word_errors = word_errors(trials[*verdict.reference].text, judged.trial.text);
      if (limits[i] && judged.trial.elapsed.count() > 0)
        judged.share_of_limit = least_time(*limits[i], judged.trial) / judged.trial.elapsed;
    }
    verdict.trials.push_back(std::move(judged));
    const bool agrees = verdict.trials[i].word_errors.value_or(1) <= kAgrees;
    if (agrees && (!verdict.recommended || better(verdict.trials[i], verdict.trials[*verdict.recommended])))
      verdict.recommended = i;
  }
  return verdict;
}

std::string flags_of(const BenchSetting& setting) {
  return "--batched --device " + setting.device + " --compute-type " + setting.compute_type + " --batch-size " +
         std::to_string(setting.batch_size) + " --beam-size None --temperature-increment-on-fallback None";
}

}  // namespace tutti
