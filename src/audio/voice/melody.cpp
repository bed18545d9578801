#include "audio/voice/melody.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <utility>

#include "audio/voice/level.h"
#include "audio/voice/pitch.h"
#include "base/order_statistics.h"

namespace tutti {
namespace {

constexpr double kSemitones = 12, kFarthest = 7, kMistaken = 9;
constexpr Seconds kUnvoicedStep{0.005};  // from mark to mark where there is no pitch

/// The middle of a period, or a point of what has none.
struct Mark {
  std::int64_t at = 0;
  double period = 0;  ///< in samples; 0: there is none
};

float at_frame(std::span<const float> values, std::int64_t sample, int hop) {
  if (values.empty()) return 0;
  return values[static_cast<std::size_t>(std::clamp<std::int64_t>(sample / hop, 0, std::ssize(values) - 1))];
}

/// How like the samples around `a` are to those around `b`: their normalised correlation.
double likeness(std::span<const float> samples, std::int64_t a, std::int64_t b, std::int64_t half) {
  half = std::min({half, a, std::ssize(samples) - b});
  double product = 0, first = 0, second = 0;
  for (std::int64_t i = -half; i < half; ++i) {
    const double x = samples[static_cast<std::size_t>(a + i)], y = samples[static_cast<std::size_t>(b + i)];
    product += x * y;
    first += x * x;
    second += y * y;
  }
  return product / (std::sqrt(first * second) + 1e-9);
}

/// The mark a period behind `last`: where the samples are most like those around it.
std::int64_t next_mark(std::span<const float> samples, const Mark& last, double period) {
  constexpr double kLeast = 0.85, kMost = 1.15;
  const auto from = last.at + static_cast<std::int64_t>(kLeast * period);
  const auto to = std::min(last.at + static_cast<std::int64_t>(kMost * period), std::ssize(samples) - 1);
  auto best = last.at + static_cast<std::int64_t>(period);
  double most = -1;
  for (auto at = from; at <= to; ++at) {
    const double value = likeness(samples, last.at, at, static_cast<std::int64_t>(period / 2));
    if (value <= most) continue;
    most = value;
    best = at;
  }
  return best;
}

/// The first mark of a voiced part: its loudest sample within a period.
std::int64_t first_mark(std::span<const float> samples, std::int64_t from, double period) {
  const auto to = std::min(from + static_cast<std::int64_t>(period), std::ssize(samples));
  const auto begin = samples.begin() + from, end = samples.begin() + to;
  return from + (std::max_element(begin, end, [](float a, float b) { return std::abs(a) < std::abs(b); }) - begin);
}

std::vector<Mark> marks_of(std::span<const float> samples, std::span<const float> pitch, Hertz rate, int hop) {
  std::vector<Mark> marks;
  const auto step = samples_in(kUnvoicedStep, rate);
  for (std::int64_t at = 0; at < std::ssize(samples);) {
    const double hertz = at_frame(pitch, at, hop);
    if (hertz <= 0) {
      marks.push_back({.at = at});
      at += step;
      continue;
    }
    const double period = rate.value / hertz;
    const bool goes_on = !marks.empty() && marks.back().period > 0;
    const auto found = goes_on ? next_mark(samples, marks.back(), period) : first_mark(samples, at, period);
    if (found >= std::ssize(samples)) break;
    marks.push_back({.at = found, .period = period});
    at = found + std::max<std::int64_t>(1, static_cast<std::int64_t>(period));
  }
  return marks;
}

/// Sums of windows, and of what they hold.
class Overlap {
 public:
  explicit Overlap(std::size_t size) : sum_(size), weight_(size) {}

  /// Puts two periods (or steps) of `samples` around `from` down around `to`, under a Hann window.
  void add(std::span<const float> samples, std::int64_t from, std::int64_t to, std::int64_t half) {
    for (std::int64_t i = -half; i <= half; ++i) {
      if (from + i < 0 || from + i >= std::ssize(samples) || to + i < 0 || to + i >= std::ssize(sum_)) continue;
      const double angle = std::numbers::pi * static_cast<double>(i) / static_cast<double>(half);
      const auto window = static_cast<float>(0.5 + 0.5 * std::cos(angle));
      sum_[static_cast<std::size_t>(to + i)] += window * samples[static_cast<std::size_t>(from + i)];
      weight_[static_cast<std::size_t>(to + i)] += window;
    }
  }

  std::vector<float> take() {
    constexpr float kLeast = 0.3F;  // less would amplify what is between two windows
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] /= std::max(weight_[i], kLeast);
    return std::move(sum_);
  }

 private:
  std::vector<float> sum_, weight_;
};

}  // namespace

std::vector<float> wanted_pitch(std::span<const float> pitch, Seconds frame, const MelodyOptions& options) {
  std::vector<float> wanted(pitch.begin(), pitch.end());
  std::vector<float> voiced;
  std::ranges::copy_if(pitch, std::back_inserter(voiced), [](float hertz) { return hertz > 0; });
  if (voiced.empty()) return wanted;
  const double median = median_of(std::move(voiced));
  std::int64_t last = std::ssize(pitch) - 1;
  while (pitch[static_cast<std::size_t>(last)] <= 0) --last;
  const auto length = std::max<std::int64_t>(1, static_cast<std::int64_t>(options.rise_over.count() / frame.count()));
  for (std::int64_t i = 0; i < std::ssize(pitch); ++i) {
    const double hertz = pitch[static_cast<std::size_t>(i)];
    if (hertz <= 0) continue;
    const double off = kSemitones * std::log2(hertz / median);
    if (std::abs(off) > kMistaken) continue;
    double semitones = std::clamp(off * options.range, -kFarthest, kFarthest);
    const double share = static_cast<double>(i - (last - length)) / static_cast<double>(length);
    if (options.rise > 0 && share > 0) semitones = std::max(semitones, -1.0) + options.rise * std::pow(share, 1.5);
    wanted[static_cast<std::size_t>(i)] = static_cast<float>(median * std::exp2(semitones / kSemitones));
  }
  return wanted;
}

std::vector<float> with_pitch(std::span<const float> samples, std::span<const float> pitch,
                              std::span<const float> wanted, Hertz rate, int hop) {
  const auto marks = marks_of(samples, pitch, rate, hop);
  const auto step = samples_in(kUnvoicedStep, rate);
  Overlap made(samples.size());
  std::size_t nearest = 0;
  for (double at = 0; at < static_cast<double>(samples.size()) && !marks.empty();) {
    const auto distance = [&](std::size_t mark) { return std::abs(static_cast<double>(marks[mark].at) - at); };
    while (nearest + 1 < marks.size() && distance(nearest + 1) <= distance(nearest)) ++nearest;
    const Mark& mark = marks[nearest];
    if (mark.period <= 0) {
      made.add(samples, mark.at, mark.at, step);
      if (nearest + 1 == marks.size()) break;
      at = static_cast<double>(marks[++nearest].at);
      continue;
    }
    const auto to = static_cast<std::int64_t>(std::llround(at));
    made.add(samples, mark.at, to, static_cast<std::int64_t>(mark.period));
    const double hertz = at_frame(wanted, to, hop);
    at += hertz > 0 ? rate.value / hertz : mark.period;
  }
  return made.take();
}

std::vector<float> with_melody(std::vector<float> samples, Hertz rate, const MelodyOptions& options) {
  constexpr double kPitchFrames = 80, kQuiet = 30;
  if (options.range == 1 && options.rise == 0) return samples;
  const int hop = static_cast<int>(rate.value / kPitchFrames);
  auto pitch = pitch_of(samples, {.rate = rate, .hop = hop});
  const auto audible = sounding_range(samples, rate, kQuiet);  // the hum of what is silent has no melody
  for (std::int64_t i = 0; i < std::ssize(pitch); ++i)
    if (i * hop < audible.start || i * hop >= audible.end) pitch[static_cast<std::size_t>(i)] = 0;
  if (std::ranges::all_of(pitch, [](float hertz) { return hertz <= 0; })) return samples;
  return with_pitch(samples, pitch, wanted_pitch(pitch, length_of(hop, rate), options), rate, hop);
}

}  // namespace tutti
