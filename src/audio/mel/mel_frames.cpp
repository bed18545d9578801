#include "audio/mel/mel_frames.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "audio/lanes.h"

namespace tutti {
namespace {

constexpr std::size_t kLanes = MelFrames::kFrames;

/// Magnitudes of kLanes spectra, or their squares, in place of their real parts, [bins, kLanes]; and the sums of the
/// squares.
TUTTI_INLINE void find_magnitudes(float* re, const float* im, std::size_t bins, MelFrameOptions options,
                                  float* powers) {
  float sums[kLanes] = {};
  for (std::size_t k = 0; k < bins; ++k) {
    float squares[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = re[k * kLanes + lane], y = im[k * kLanes + lane];
      squares[lane] = x * x + y * y + options.least_square;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += squares[lane];
    if (options.takes_root)
      for (float& square : squares) square = std::sqrt(square);
    for (std::size_t lane = 0; lane < kLanes; ++lane) re[k * kLanes + lane] = squares[lane];
  }
  std::copy_n(sums, kLanes, powers);
}

/// Mel bands of kLanes frames, [filters, kLanes].
TUTTI_INLINE void find_bands(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  for (std::size_t mel = 0; mel < filters.size(); ++mel) {
    const float* bin = magnitudes + static_cast<std::size_t>(filters[mel].first_bin) * kLanes;
    float sums[kLanes] = {};
    for (const float weight : filters[mel].weights) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += weight * bin[lane];
      bin += kLanes;
    }
    std::copy_n(sums, kLanes, bands + mel * kLanes);
  }
}

/// The arithmetic, compiled for one generation of machines.
struct Kernel {
  void (*magnitudes)(float* re, const float* im, std::size_t bins, MelFrameOptions options, float* powers);
  void (*bands)(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands);
};

[[TUTTI_AVX512]] void magnitudes_avx512(float* re, const float* im, std::size_t bins, MelFrameOptions options,
                                        float* powers) {
  find_magnitudes(re, im, bins, options, powers);
}
[[TUTTI_AVX2]] void magnitudes_avx2(float* re, const float* im, std::size_t bins, MelFrameOptions options,
                                    float* powers) {
  find_magnitudes(re, im, bins, options, powers);
}
void magnitudes_any(float* re, const float* im, std::size_t bins, MelFrameOptions options, float* powers) {
  find_magnitudes(re, im, bins, options, powers);
}
[[TUTTI_AVX512]] void bands_avx512(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  find_bands(filters, magnitudes, bands);
}
[[TUTTI_AVX2]] void bands_avx2(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  find_bands(filters, magnitudes, bands);
}
void bands_any(const std::vector<MelFilter>& filters, const float* magnitudes, float* bands) {
  find_bands(filters, magnitudes, bands);
}

const Kernel& kernel() {
  static const Kernel one = runs_avx512() ? Kernel{magnitudes_avx512, bands_avx512}
                            : runs_avx2() ? Kernel{magnitudes_avx2, bands_avx2}
                                          : Kernel{magnitudes_any, bands_any};
  return one;
}

}  // namespace

std::vector<float> hann_window(int window, int size) {
  std::vector<float> values(static_cast<std::size_t>(size), 0.0F);
  const auto lead = static_cast<std::size_t>((size - window) / 2);
  for (int i = 0; i < window; ++i) {
    const double turn = 2 * std::numbers::pi * i / window;
    values[lead + static_cast<std::size_t>(i)] = static_cast<float>(0.5 - 0.5 * std::cos(turn));
  }
  return values;
}

MelFrames::MelFrames(std::vector<float> window, std::vector<MelFilter> filters, MelFrameOptions options)
    : window_(std::move(window)),
      filters_(std::move(filters)),
      options_(options),
      fourier_(static_cast<int>(window_.size())) {
  const auto counts = [](float weight) { return weight != 0; };
  first_ = static_cast<std::size_t>(std::ranges::find_if(window_, counts) - window_.begin());
  last_ = window_.size();
  while (last_ > first_ && !counts(window_[last_ - 1])) --last_;
}

void MelFrames::compute(std::span<const float* const> frames, Bands& bands) const {
  const std::size_t bins = window_.size() / 2 + 1;
  bands.mel.resize(filters_.size() * kLanes);
  bands.samples.assign(window_.size() * kLanes, 0.0F);
  bands.re.resize(bins * kLanes);
  bands.im.resize(bins * kLanes);
  for (std::size_t lane = 0; lane < frames.size(); ++lane)
    for (std::size_t i = first_; i < last_; ++i) bands.samples[i * kLanes + lane] = window_[i] * frames[lane][i];
  fourier_.forward(bands.samples.data(), bands.re.data(), bands.im.data());
  kernel().magnitudes(bands.re.data(), bands.im.data(), bins, options_, bands.powers.data());
  kernel().bands(filters_, bands.re.data(), bands.mel.data());
}

}  // namespace tutti
