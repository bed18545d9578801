#include <algorithm>
#include <cmath>

#include "audio/mel/mel_kernel.h"
#include "base/units.h"

namespace tutti {
namespace {

// Slaney's scale (Auditory Toolbox): linear below 1 kHz, logarithmic above.
constexpr double kHertzPerMel = 200.0 / 3;
constexpr double kKneeHertz = 1000.0;
constexpr double kKneeMel = kKneeHertz / kHertzPerMel;
const double kLogStep = std::log(6.4) / 27;

double mel_of(double hertz) {
  return hertz < kKneeHertz ? hertz / kHertzPerMel : kKneeMel + std::log(hertz / kKneeHertz) / kLogStep;
}

double hertz_of(double mel) {
  return mel < kKneeMel ? mel * kHertzPerMel : kKneeHertz * std::exp(kLogStep * (mel - kKneeMel));
}

MelFilter triangle(const MelBands& bands, double low, double peak, double high) {
  const double bin_hertz = static_cast<double>(bands.rate.value) / bands.n_fft;
  MelFilter filter;
  for (int bin = 0; bin <= bands.n_fft / 2; ++bin) {
    const double rising = (bin * bin_hertz - low) / (peak - low);
    const double falling = (high - bin * bin_hertz) / (high - peak);
    const auto height = static_cast<float>(std::max(0.0, std::min(rising, falling)));
    if (height <= 0) continue;
    if (filter.weights.empty()) filter.first_bin = bin;
    filter.weights.push_back(static_cast<float>(height * (2.0 / (high - low))));
  }
  return filter;
}

}  // namespace

std::vector<MelFilter> slaney_filters(const MelBands& bands) {
  const double low = mel_of(bands.lowest), top = mel_of(bands.highest);
  const auto edge = [&](int i) { return hertz_of(low + (top - low) * i / (bands.n_mels + 1)); };
  std::vector<MelFilter> filters;
  for (int mel = 0; mel < bands.n_mels; ++mel)
    filters.push_back(triangle(bands, edge(mel), edge(mel + 1), edge(mel + 2)));
  return filters;
}

std::vector<MelFilter> mel_filters(int n_mels) {
  return slaney_filters({kModelRate, kMelFft, n_mels, 0, kModelRate.value / 2.0});
}

}  // namespace tutti
