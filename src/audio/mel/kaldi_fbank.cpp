#include "audio/mel/kaldi_fbank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "base/try.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr std::size_t kFft = 512;
constexpr double kLowest = 20, kHighest = 8000;
constexpr float kPreEmphasis = 0.97F;

double mel_of(double hertz) {
  return 1127.0 * std::log1p(hertz / 700);
}

/// Triangles on the mel scale, of height 1; the bin at half the rate is in none.
std::vector<MelFilter> kaldi_filters() {
  const double low = mel_of(kLowest), step = (mel_of(kHighest) - low) / (KaldiFbank::kBins + 1);
  std::vector<MelFilter> filters;
  for (std::int64_t mel = 0; mel < KaldiFbank::kBins; ++mel) {
    const double left = low + static_cast<double>(mel) * step, centre = left + step, right = centre + step;
    MelFilter& filter = filters.emplace_back();
    for (std::size_t bin = 0; bin < kFft / 2; ++bin) {
      const double at = mel_of(static_cast<double>(bin) * kModelRate.value / kFft);
      const double height = std::min((at - left) / (centre - left), (right - at) / (right - centre));
      if (height <= 0) continue;
      if (filter.weights.empty()) filter.first_bin = static_cast<int>(bin);
      filter.weights.push_back(static_cast<float>(height));
    }
  }
  return filters;
}

/// A Hann window to the power of 0.85, with zeros behind it.
std::vector<float> povey_window() {
  std::vector<float> window(kFft, 0.0F);
  for (std::int64_t i = 0; i < KaldiFbank::kWindow; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / (KaldiFbank::kWindow - 1);
    window[static_cast<std::size_t>(i)] = static_cast<float>(std::pow(0.5 - 0.5 * std::cos(turn), 0.85));
  }
  return window;
}

/// A frame's samples without their offset, and with their highs raised.
void condition(std::span<const std::int16_t> samples, float* out) {
  double sum = 0;
  for (const std::int16_t sample : samples) sum += sample;
  const double mean = sum / static_cast<double>(samples.size());
  float before = static_cast<float>((samples[0] - mean) / 32768);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float now = static_cast<float>((samples[i] - mean) / 32768);
    out[i] = now - kPreEmphasis * before;
    before = now;
  }
}

}  // namespace

KaldiFbank::KaldiFbank() : frames_(povey_window(), kaldi_filters(), {.takes_root = false}) {}

Result<std::vector<float>> KaldiFbank::compute(const SampleReader& audio, std::int64_t first,
                                               std::int64_t count) const {
  constexpr std::size_t kLanes = MelFrames::kFrames;
  if (count <= 0) return std::vector<float>{};
  std::vector<std::int16_t> samples(static_cast<std::size_t>((count - 1) * kHop + kWindow));
  TRY(audio.read(first * kHop, samples));

  std::vector<float> out(static_cast<std::size_t>(count * kBins));
  std::vector<float> conditioned(kLanes * kFft, 0.0F);
  MelFrames::Bands bands;
  std::array<const float*, kLanes> starts{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) starts[lane] = conditioned.data() + lane * kFft;
  for (std::size_t from = 0; from < static_cast<std::size_t>(count); from += kLanes) {
    const std::size_t some = std::min(kLanes, static_cast<std::size_t>(count) - from);
    for (std::size_t lane = 0; lane < some; ++lane)
      condition(std::span(samples).subspan((from + lane) * kHop, kWindow), conditioned.data() + lane * kFft);
    frames_.compute(std::span(starts).first(some), bands);
    for (std::size_t lane = 0; lane < some; ++lane)
      for (std::size_t bin = 0; bin < kBins; ++bin)
        out[(from + lane) * kBins + bin] =
            std::log(std::max(bands.mel[bin * kLanes + lane], std::numeric_limits<float>::epsilon()));
  }
  return out;
}

}  // namespace tutti
