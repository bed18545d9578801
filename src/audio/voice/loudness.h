#pragma once

#include <optional>
#include <span>

#include "base/units.h"

namespace tutti {

// Loudness as broadcasters measure it. Samples are mono, 1 at full scale. All functions are pure.

/// The integrated loudness of one channel in LUFS by ITU-R BS.1770-4: K-weighted, over blocks of 400 ms that overlap by
/// three quarters, without those below -70 LUFS and those 10 LU below the mean of the rest. A sine of 997 Hz at full
/// scale has -3.01. Sound of less than 400 ms is one block. None where all of it is below -70 LUFS.
///
/// The standard states its two filters for 48 kHz. For other rates they are made again from the analogue ones that
/// these have (De Man, "Evaluation of implementations of the EBU R128 loudness measurement", AES 145, 2018).
std::optional<double> integrated_loudness(std::span<const float> samples, Hertz rate);

/// Decides how loud each sentence of a text becomes, one after the other, so that the first one need not wait for the
/// others: each is brought to the same loudness, but no gain is more than 3 dB off the mean of those before, which
/// their seconds weigh, and none makes a sentence more than 0.5 LU louder than that. So a short or soft sentence stays
/// somewhat softer than its neighbours. Not thread-safe.
class SentenceLevel {
 public:
  /// `loudness`: in LUFS.
  SentenceLevel(double loudness, Hertz rate) : loudness_(loudness), rate_(rate) {}

  /// Scales the samples of the next sentence. Silence stays as it is. The highest peak is 0.99 of full scale at most:
  /// where that is not enough, the sentence stays softer.
  void apply(std::span<float> samples);

 private:
  double loudness_;
  Hertz rate_;
  double seconds_ = 0;  // of the sentences before
  double gains_ = 0;    // sum of their wanted gains in dB, each times its seconds
};

}  // namespace tutti
