#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "audio/sample_reader.h"

namespace tutti {

/// Samples in memory as features read them; not owned.
class PcmSamples final : public SampleReader {
 public:
  explicit PcmSamples(std::span<const std::int16_t> pcm) : pcm_(pcm) {}

  std::int64_t samples() const override { return std::ssize(pcm_); }
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    const std::int64_t from = std::clamp<std::int64_t>(first, 0, samples());
    const std::int64_t to = std::clamp<std::int64_t>(first + std::ssize(out), from, samples());
    const auto lead = std::min(static_cast<std::size_t>(std::max<std::int64_t>(from - first, 0)), out.size());
    const auto part = pcm_.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    std::fill_n(out.begin(), lead, std::int16_t{0});
    std::copy(part.begin(), part.end(), out.begin() + static_cast<std::ptrdiff_t>(lead));
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(lead + part.size()), out.end(), std::int16_t{0});
    return {};
  }

 private:
  std::span<const std::int16_t> pcm_;
};

}  // namespace tutti
