#include "audio/peaks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "base/try.h"

namespace tutti {
namespace {

/// The loudest of samples [first, last).
Result<int> loudest(const SampleReader& recording, std::int64_t first, std::int64_t last) {
  std::array<std::int16_t, 8192> block;
  int most = 0;
  while (first < last) {
    const auto part =
        std::span(block).first(static_cast<std::size_t>(std::min<std::int64_t>(last - first, block.size())));
    TRY(recording.read(first, part));
    for (const std::int16_t sample : part) most = std::max(most, std::abs(static_cast<int>(sample)));
    first += static_cast<std::int64_t>(part.size());
  }
  return most;
}

}  // namespace

Result<std::vector<float>> peaks_of(const SampleReader& recording, Seconds start, Seconds stop, std::size_t columns) {
  std::vector<float> peaks;
  const auto border = [&](std::size_t column) {
    const Seconds at = start + (stop - start) * static_cast<double>(column) / static_cast<double>(columns);
    return static_cast<std::int64_t>(std::floor(at.count() * kModelRate.value));
  };
  for (std::size_t column = 0; column < columns; ++column) {
    const auto most = TRY(loudest(recording, border(column), border(column + 1)));
    peaks.push_back(static_cast<float>(most) / 32768.0F);
  }
  return peaks;
}

}  // namespace tutti
