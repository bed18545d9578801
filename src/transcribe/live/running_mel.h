#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "transcribe/mel_source.h"

namespace tutti {

/// Windows of a recording that grows, clamped by the maximum of all that was read of it until then: what the reference
/// clamps by, as far as it is known. Borrows what it is given.
class RunningMel final : public MelSource {
 public:
  RunningMel(const LogMel& log_mel, const SampleReader& recording) : log_mel_(log_mel), recording_(recording) {}

  std::int32_t n_mels() const override { return log_mel_.n_mels(); }
  Result<std::vector<float>> window(WindowSpan span) override {
    constexpr float kUnclamped = -1000;  // far below any log-mel value
    constexpr float kBelow = 2;          // Whisper's eight decades, scaled as the values are
    auto mel = log_mel_.window(recording_, span.seek, span.frames, kUnclamped);
    if (!mel) return mel;
    for (const float value : *mel) maximum_ = std::max(maximum_, value);
    for (float& value : *mel) value = std::max(value, maximum_ - kBelow);
    return mel;
  }

 private:
  const LogMel& log_mel_;
  const SampleReader& recording_;
  float maximum_ = std::numeric_limits<float>::lowest();
};

}  // namespace tutti
