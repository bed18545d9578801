#include "transcript/fallback.h"

#include <zlib.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/field_names.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

using Threshold = std::optional<double>;

bool above(double value, const Threshold& threshold) {
  return threshold && value > *threshold;
}
bool below(double value, const Threshold& threshold) {
  return threshold && value < *threshold;
}

/// numpy.arange's end, a little behind the last temperature that is wanted.
constexpr double kTemperatureEnd = 1.0 + 1e-6;
constexpr double kSmallestIncrement = 0.001;

}  // namespace

Result<std::vector<double>> fallback_temperatures(double first, std::optional<double> increment) {
  if (first != 0 && !(first >= kLeastTemperature && first <= kMostTemperature))
    return fail(Fault::usage, field("temperature") + ": expected 0, or a number from " + float_text(kLeastTemperature) +
                                  " to " + float_text(kMostTemperature) + ", found " + float_text(first));
  std::vector<double> temperatures{first};
  if (!increment) return temperatures;
  if (!(*increment >= kSmallestIncrement))
    return fail(Fault::usage, field("temperature_increment_on_fallback") + ": expected a number from " +
                                  float_text(kSmallestIncrement) + " on, found " + float_text(*increment));
  const double count = std::ceil((kTemperatureEnd - first) / *increment);
  const double step = (first + *increment) - first;
  for (double i = 1; i < count; ++i) temperatures.push_back(first + i * step);
  return temperatures;
}

bool needs_fallback(const WindowScores& scores, const LongFormOptions& options) {
  const bool improbable = below(scores.avg_logprob, options.logprob_threshold);
  if (improbable && above(scores.no_speech_prob, options.no_speech_threshold)) return false;
  return improbable || above(scores.compression_ratio, options.compression_ratio_threshold);
}

bool is_silence(const WindowScores& scores, const LongFormOptions& options) {
  return above(scores.no_speech_prob, options.no_speech_threshold) &&
         !above(scores.avg_logprob, options.logprob_threshold);
}

double compression_ratio(std::string_view utf8) {
  const auto size = static_cast<uLong>(utf8.size());
  uLongf compressed = ::compressBound(size);
  std::vector<Bytef> out(compressed);
  if (::compress(out.data(), &compressed, reinterpret_cast<const Bytef*>(utf8.data()), size) != Z_OK)
    throw std::runtime_error("zlib could not compress a text of " + std::to_string(size) + " bytes");
  return static_cast<double>(size) / static_cast<double>(compressed);
}

}  // namespace tutti
