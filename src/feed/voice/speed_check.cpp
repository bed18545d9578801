#include "feed/voice/speed_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "audio/voice/pitch.h"
#include "base/order_statistics.h"

namespace tutti {
namespace {

constexpr int kStepsInOctave = 24;
constexpr int kMostSteps = 30;       // speeds of 0.42 to 2.4: 48 kHz taken for 22.05 kHz is 0.46
constexpr double kLowest = 150;      // Hz
constexpr double kLeastOff = 0.32;   // octaves: a clip's pitch may be a quarter higher or lower
constexpr double kAgreement = 0.25;  // octaves between what pitch and spectrum say
constexpr double kBetter = 0.75;     // the spectrum fits better than unmoved, by so much at least

/// Mean distance of two spectra from each other, whatever their loudness, one moved up by `steps`.
double distance(std::span<const float> levels, std::span<const float> usual, int steps) {
  const auto moved = static_cast<std::size_t>(std::abs(steps));
  const auto count = usual.size() - moved;
  const auto one = levels.subspan(steps > 0 ? moved : 0, count), other = usual.subspan(steps > 0 ? 0 : moved, count);
  double mean = 0, sum = 0;
  for (std::size_t i = 0; i < count; ++i) mean += (one[i] - other[i]) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) sum += std::abs(one[i] - other[i] - mean);
  return sum / static_cast<double>(count);
}

/// Octaves that a clip is too high, by pitch and spectrum; 0 where these do not say so.
double octaves_off(const SpeedTraits& clip, double usual_pitch, std::span<const float> usual) {
  const double by_pitch = std::log2(clip.pitch / usual_pitch);
  if (std::abs(by_pitch) < kLeastOff) return 0;
  const double unmoved = distance(clip.levels, usual, 0);
  int best = 0;
  double least = unmoved;
  for (int steps = -kMostSteps; steps <= kMostSteps; ++steps)
    if (const double at = distance(clip.levels, usual, steps); at < least) {
      best = steps;
      least = at;
    }
  const double by_spectrum = static_cast<double>(best) / kStepsInOctave;
  // Of a slow clip of a low voice the search finds no true pitch, and something above it.
  constexpr double kNear = 1.2;
  const bool is_too_low = by_pitch < 0 && usual_pitch * std::exp2(by_spectrum) < kNear * PitchOptions{}.lowest;
  const bool agree = (is_too_low || std::abs(by_spectrum - by_pitch) < kAgreement) && least < kBetter * unmoved;
  return agree ? by_spectrum : 0;
}

}  // namespace

SpeedMeter::SpeedMeter(const VoiceMelOptions& mel) {
  const double bin = static_cast<double>(mel.rate.value) / mel.n_fft;
  for (const auto& filter : voice_mel_filters(mel)) {
    double weights = 0, moments = 0;
    for (std::size_t i = 0; i < filter.weights.size(); ++i) {
      weights += filter.weights[i];
      moments += filter.weights[i] * (filter.first_bin + static_cast<double>(i));
    }
    const double before = centres_.empty() ? mel.lowest : centres_.back();
    centres_.push_back(weights > 0 ? bin * moments / weights : before);  // narrow filters may hold no bin
  }
  for (int i = 0;; ++i) {
    const double hertz = kLowest * std::exp2(static_cast<double>(i) / kStepsInOctave);
    if (hertz > centres_.back()) break;
    points_.push_back(hertz);
  }
}

std::optional<SpeedTraits> SpeedMeter::traits_of(std::span<const float> mel, std::span<const float> pitch) const {
  constexpr std::size_t kLeastFrames = 20;
  const auto n_mels = centres_.size();
  std::vector<double> means(n_mels);
  std::vector<float> voiced;
  for (std::size_t frame = 0; frame < pitch.size(); ++frame) {
    if (pitch[frame] <= 0) continue;
    voiced.push_back(pitch[frame]);
    for (std::size_t i = 0; i < n_mels; ++i) means[i] += mel[frame * n_mels + i];
  }
  if (voiced.size() < kLeastFrames || points_.size() <= 2 * kMostSteps) return std::nullopt;
  for (double& mean : means) mean /= static_cast<double>(voiced.size());
  SpeedTraits traits{.pitch = median_of(std::move(voiced))};
  for (const double hertz : points_) {
    const auto above = std::clamp<std::ptrdiff_t>(std::ranges::upper_bound(centres_, hertz) - centres_.begin(), 1,
                                                  static_cast<std::ptrdiff_t>(n_mels) - 1);
    const auto high = static_cast<std::size_t>(above), low = high - 1;
    const double width = centres_[high] - centres_[low];
    const double share = width > 0 ? std::clamp((hertz - centres_[low]) / width, 0.0, 1.0) : 0;
    traits.levels.push_back(static_cast<float>(means[low] + share * (means[high] - means[low])));
  }
  return traits;
}

std::vector<WrongSpeed> wrong_speeds(std::span<const SpeedTraits* const> clips) {
  constexpr std::size_t kLeastClips = 8;
  std::vector<WrongSpeed> wrong;
  if (clips.size() < kLeastClips) return wrong;
  std::vector<double> pitches;
  for (const auto* clip : clips) pitches.push_back(clip->pitch);
  const double usual_pitch = median_of(std::move(pitches));
  std::vector<float> usual;
  for (std::size_t i = 0; i < clips.front()->levels.size(); ++i) {
    std::vector<float> levels;
    for (const auto* clip : clips) levels.push_back(clip->levels[i]);
    usual.push_back(median_of(std::move(levels)));
  }
  for (std::size_t i = 0; i < clips.size(); ++i)
    if (const double octaves = octaves_off(*clips[i], usual_pitch, usual); octaves != 0)
      wrong.push_back({i, std::exp2(octaves)});
  return wrong;
}

}  // namespace tutti
