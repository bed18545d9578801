#include "transcript/fallback.h"

namespace tutti {
namespace {

using Threshold = std::optional<double>;

bool above(double value, const Threshold& threshold) {
  return threshold && value > *threshold;
}
bool below(double value, const Threshold& threshold) {
  return threshold && value < *threshold;
}

}  // namespace

bool needs_fallback(const WindowScores& scores, const LongFormOptions& options) {
  const bool improbable = below(scores.avg_logprob, options.logprob_threshold);
  if (improbable && above(scores.no_speech_prob, options.no_speech_threshold)) return false;
  return improbable || above(scores.compression_ratio, options.compression_ratio_threshold);
}

bool is_silence(const WindowScores& scores, const LongFormOptions& options) {
  return above(scores.no_speech_prob, options.no_speech_threshold) &&
         !above(scores.avg_logprob, options.logprob_threshold);
}

}  // namespace tutti
