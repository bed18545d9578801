#pragma once

#include <math.h>

#include "model/decoder_step/numbers.h"

namespace tutti {

/// Below every score, and finite: the weight of a group without positions is exp(kNoScore - score) = 0, never NaN.
inline constexpr float kNoScore = -1e30F;

/// What a thread keeps of the positions of its group: for each query a softmax that goes on, over kNumbers of the 64
/// dimensions.
template <class K, int kQueries>
struct AttendLane {
  /// Sixteen bytes; of several queries at most eight numbers, for the sums of each are registers.
  static constexpr int kNumbers = kQueries == 1 || kPiece<K> < 8 ? kPiece<K> : 8;
  using Numbers = Piece<K, kNumbers>;
  /// Positions whose keys and values are loaded in one round. Those of one byte fill more registers each, and so do
  /// several queries: with four some cards' kernels spill.
  static constexpr int kAhead = kQueries == 1 ? (sizeof(K) == 1 ? 2 : 4) : 3;
  /// [query][position]
  using Scores = Floats<kQueries * kAhead>;

  Floats<kNumbers> query{}, sums[kQueries]{};
  float most[kQueries], weight[kQueries]{};
  Numbers values[kAhead]{};
  float scales[kAhead]{};

  TUTTI_TEAM AttendLane() {
    for (float& score : most) score = kNoScore;
  }

  /// The positions whose values were loaded, with these scores.
  TUTTI_TEAM void add(Scores parts) {
    for (int q = 0; q < kQueries; ++q) {
      float now = most[q];
      for (int j = 0; j < kAhead; ++j) now = fmaxf(now, parts.at[q * kAhead + j]);
      const float factor = expf(most[q] - now);
      most[q] = now;
      weight[q] *= factor;
      for (float& sum : sums[q].at) sum *= factor;
      for (int j = 0; j < kAhead; ++j) {
        float& part = parts.at[q * kAhead + j];
        part = expf(part - now);
        weight[q] += part;
        part *= scales[j];
      }
    }
    for (int j = 0; j < kAhead; ++j) {
      const auto numbers = widened(values[j]);
      for (int q = 0; q < kQueries; ++q) {
        const float part = parts.at[q * kAhead + j];
        for (int i = 0; i < kNumbers; ++i) sums[q].at[i] += part * numbers.at[i];
      }
    }
  }
};

}  // namespace tutti
