#pragma once

#include <cstdint>
#include <vector>

#include "audio/mel/mel_frames.h"
#include "audio/sample_reader.h"
#include "base/error.h"

namespace tutti {

/// Kaldi's log-mel filter bank of 80 bins (20 to 8000 Hz) at 16 kHz, as networks for speakers take it: frames of 25 ms
/// every 10 ms, povey window, pre-emphasis 0.97, offset removed, power, natural logarithm, without dither; only whole
/// frames. Immutable; thread-safe.
class KaldiFbank {
 public:
  static constexpr std::int64_t kBins = 80;
  static constexpr std::int64_t kWindow = 400;  // samples of a frame
  static constexpr std::int64_t kHop = 160;

  KaldiFbank();

  /// Whole frames in so many samples.
  static std::int64_t frames(std::int64_t samples) { return samples < kWindow ? 0 : (samples - kWindow) / kHop + 1; }
  /// Frames [first, first + count): row-major [count, kBins]. The scale of samples is -1 to 1, so silence is the
  /// logarithm of the least float above 1, less 1: about -15.9. Reads what it needs of the audio and no more.
  Result<std::vector<float>> compute(const SampleReader& audio, std::int64_t first, std::int64_t count) const;

 private:
  MelFrames frames_;
};

}  // namespace tutti
