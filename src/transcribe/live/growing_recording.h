#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/sample_reader.h"

namespace tutti {

/// A recording that grows while it is transcribed, and forgets its beginning. One thread, unlike other readers.
class GrowingRecording final : public SampleReader {
 public:
  /// All samples up to now, forgotten ones included.
  std::int64_t samples() const override { return forgotten_ + std::ssize(pcm_); }
  /// Forgotten samples read as silence, too.
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    std::ranges::fill(out, std::int16_t{0});
    const std::int64_t from = std::max(first, forgotten_);
    const std::int64_t to = std::min(first + std::ssize(out), samples());
    if (from < to)
      std::copy(pcm_.begin() + (from - forgotten_), pcm_.begin() + (to - forgotten_), out.begin() + (from - first));
    return {};
  }

  void append(std::span<const std::int16_t> pcm) { pcm_.insert(pcm_.end(), pcm.begin(), pcm.end()); }
  /// Samples before that one are needed no more. Frees memory now and then, so that the rest is seldom moved.
  void forget_before(std::int64_t sample) {
    const std::int64_t old = std::min(sample, samples()) - forgotten_;
    if (old < kForgottenAtOnce) return;
    pcm_.erase(pcm_.begin(), pcm_.begin() + old);
    forgotten_ += old;
  }

 private:
  static constexpr std::int64_t kForgottenAtOnce = 10LL * 16'000;

  std::vector<std::int16_t> pcm_{};
  std::int64_t forgotten_ = 0;
};

}  // namespace tutti
