#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "audio/voice/voice_mel.h"

namespace tutti {

// Recordings whose header states another sample rate than they were made with are played too fast or too slowly, and no
// header shows it. Both the pitch and the whole spectrum of such a clip are off by the same factor, beside those of the
// same speaker's other clips. Another voice, another mood or another microphone moves one of them, or each otherwise.

/// What a clip's speed is recognised by.
struct SpeedTraits {
  double pitch = 0;             ///< Hz; the median of its voiced frames
  std::vector<float> levels{};  ///< ln of its mean magnitudes, at frequencies that are 1/24 octave apart
};

/// Computes these of clips. Immutable; thread-safe.
class SpeedMeter {
 public:
  /// `mel`: what the clips' spectrograms are made by. Throws std::invalid_argument as VoiceMel.
  explicit SpeedMeter(const VoiceMelOptions& mel);

  /// `mel`: [frames, n_mels], natural logarithms; `pitch`: [frames], 0 where a frame is not voiced. None with less than
  /// 20 voiced frames.
  std::optional<SpeedTraits> traits_of(std::span<const float> mel, std::span<const float> pitch) const;

 private:
  std::vector<double> centres_{};  // Hz, of the mel bins
  std::vector<double> points_{};   // Hz, of the levels
};

/// A clip that is not played at its speed.
struct WrongSpeed {
  std::size_t clip = 0;  ///< its index
  double speed = 1;      ///< 0.5 for one that is played at half its speed
};

/// Those of one speaker's clips, in their order. None for less than eight clips. Pure.
std::vector<WrongSpeed> wrong_speeds(std::span<const SpeedTraits* const> clips);

}  // namespace tutti
