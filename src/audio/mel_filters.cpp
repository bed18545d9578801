#include <algorithm>
#include <cmath>

#include "audio/mel_kernel.h"
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

MelFilter triangle(double low, double peak, double high) {
  constexpr double kBinHertz = static_cast<double>(kModelRate.value) / kMelFft;
  MelFilter filter;
  for (int bin = 0; bin < kMelBins; ++bin) {
    const double rising = (bin * kBinHertz - low) / (peak - low);
    const double falling = (high - bin * kBinHertz) / (high - peak);
    const auto height = static_cast<float>(std::max(0.0, std::min(rising, falling)));
    if (height <= 0) continue;
    if (filter.weights.empty()) filter.first_bin = bin;
    filter.weights.push_back(static_cast<float>(height * (2.0 / (high - low))));
  }
  return filter;
}

}  // namespace

std::vector<MelFilter> mel_filters(int n_mels) {
  const double top = mel_of(kModelRate.value / 2.0);
  const auto edge = [&](int i) { return hertz_of(top * i / (n_mels + 1)); };
  std::vector<MelFilter> filters;
  for (int mel = 0; mel < n_mels; ++mel) filters.push_back(triangle(edge(mel), edge(mel + 1), edge(mel + 2)));
  return filters;
}

}  // namespace tutti
