#pragma once

#include <math.h>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

// Attention of one query row over the keys and values of its own sequence: softmax(q keys^T / 8) values. A unit is a
// head of a row, or a split of its positions where rows and heads alone are too few for the device; splits are put
// together by MergeBody. A row's result depends on nothing but the row, its sequence and the number of splits.

/// Floats that a unit keeps of its positions: the largest score, the sum of weights, 64 weighted sums of values.
inline constexpr int kPartial = 2 + kHeadSize;

TUTTI_BOTH inline std::int32_t split_share(std::int32_t length, std::int32_t splits) {
  return (length + splits - 1) / splits;
}

/// Floats of shared memory for sequences of at most `positions`.
TUTTI_BOTH inline std::int64_t attend_shared(std::int32_t positions, std::int32_t splits) {
  return kGroups * kHeadSize + split_share(positions, splits);
}

struct EightFloats {
  float at[kEight];
};

template <class T>
TUTTI_BOTH EightFloats widened_eight(const Eight<T>& eight, float factor) {
  EightFloats wide;
  for (int i = 0; i < kEight; ++i) wide.at[i] = widened(eight.at[i]) * factor;
  return wide;
}

template <class K>
TUTTI_BOTH float dot(const EightFloats& query, const Eight<K>& key) {
  float sum = 0;
  for (int i = 0; i < kEight; ++i) sum += query.at[i] * widened(key.at[i]);
  return sum;
}

template <class K>
TUTTI_BOTH void add_weighted(EightFloats& sums, float weight, const Eight<K>& value) {
  for (int i = 0; i < kEight; ++i) sums.at[i] += weight * widened(value.at[i]);
}

/// Which part of a job a unit is.
struct AttendUnit {
  std::int64_t row, head;
  std::int32_t first, count;  // positions

  TUTTI_BOTH static AttendUnit of(const AttendJob& job, std::int64_t unit) {
    const auto split = static_cast<std::int32_t>(unit % job.splits);
    const auto of_row = unit / job.splits;
    const auto row = of_row / job.heads;
    const auto length = job.table[row].length, share = split_share(length, job.splits);
    const auto first = split * share < length ? split * share : length;
    return {row, of_row % job.heads, first, share < length - first ? share : length - first};
  }
};

template <class T>
TUTTI_BOTH void finish_attention(const AttendJob& job, const AttendUnit& unit, int dimension, float value) {
  static_cast<T*>(job.out)[(unit.row * job.heads + unit.head) * kHeadSize + dimension] = narrowed<T>(value);
}

/// scores[i]: that of the unit's i-th position.
template <class T, class K, class Team>
TUTTI_TEAM void score_positions(const Team& team, const AttendJob& job, const AttendUnit& unit, float* scores) {
  const auto keys = HeadNumbers<K>::of(job.table[unit.row].keys, unit.head, job.positions);
  const auto* q = static_cast<const T*>(job.q) + unit.row * job.q_stride + unit.head * kHeadSize;
  const auto* query = reinterpret_cast<const Eight<T>*>(q);
  team.group_sums(
      (unit.count + kGroups - 1) / kGroups, [&](int member) { return widened_eight(query[member], 0.125F); },
      [&](const EightFloats& part, int group, int member, int round) {
        const int i = round * kGroups + group;
        return i < unit.count ? dot(part, keys.numbers[std::int64_t{unit.first + i} * kEight + member]) : 0.0F;
      },
      [&](int group, int round, float sum) {
        const int i = round * kGroups + group;
        if (i < unit.count) scores[i] = sum * keys.scale(unit.first + i);
      });
}

/// sums: [kGroups][64], of every kGroups-th position.
template <class K, class Team>
TUTTI_TEAM void sum_values(const Team& team, const AttendJob& job, const AttendUnit& unit, const float* weights,
                           float* sums) {
  const auto values = HeadNumbers<K>::of(job.table[unit.row].values, unit.head, job.positions);
  team.each([&](int thread) {
    const int group = thread / kGroup, member = thread % kGroup;
    EightFloats own{};
    for (int i = group; i < unit.count; i += kGroups) {
      const int position = unit.first + i;
      add_weighted(own, weights[i] * values.scale(position), values.numbers[std::int64_t{position} * kEight + member]);
    }
    for (int i = 0; i < kEight; ++i) sums[group * kHeadSize + member * kEight + i] = own.at[i];
  });
}

template <class T, class K>
struct AttendBody {
  /// shared: attend_shared(job.positions, job.splits) floats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AttendJob& job, std::int64_t index, float* shared) {
    const auto unit = AttendUnit::of(job, index);
    float* sums = shared;
    float* scores = shared + kGroups * kHeadSize;
    score_positions<T, K>(team, job, unit, scores);
    const float most = team.greatest([&](int thread) {
      float own = -INFINITY;
      for (int i = thread; i < unit.count; i += kThreads) own = fmaxf(own, scores[i]);
      return own;
    });
    const float weight = team.total([&](int thread) {
      float own = 0;
      for (int i = thread; i < unit.count; i += kThreads) own += scores[i] = expf(scores[i] - most);
      return own;
    });
    sum_values<K>(team, job, unit, scores, sums);
    const auto values = HeadNumbers<K>::of(job.table[unit.row].values, unit.head, job.positions);
    team.each([&](int dimension) {
      if (dimension >= kHeadSize) return;
      float sum = 0;
      for (int group = 0; group < kGroups; ++group) sum += sums[group * kHeadSize + dimension];
      if (job.splits == 1) return finish_attention<T>(job, unit, dimension, sum / weight + values.mean(dimension));
      float* partial = job.scratch + index * kPartial;
      partial[2 + dimension] = sum;
      if (dimension == 0) partial[0] = most, partial[1] = weight;
    });
  }
};

/// A head of a row whose splits are done.
template <class T, class K>
struct MergeBody {
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AttendJob& job, std::int64_t index, float*) {
    const AttendUnit unit{index / job.heads, index % job.heads, 0, 0};
    const auto values = HeadNumbers<K>::of(job.table[unit.row].values, unit.head, job.positions);
    const float* partials = job.scratch + index * job.splits * kPartial;
    team.each([&](int dimension) {
      if (dimension >= kHeadSize) return;
      float most = -INFINITY, weight = 0, sum = 0;
      for (int split = 0; split < job.splits; ++split) most = fmaxf(most, partials[split * kPartial]);
      for (int split = 0; split < job.splits; ++split) {
        const float* partial = partials + split * kPartial;
        const float factor = expf(partial[0] - most);  // of a split without positions: 0
        weight += factor * partial[1];
        sum += factor * partial[2 + dimension];
      }
      finish_attention<T>(job, unit, dimension, sum / weight + values.mean(dimension));
    });
  }
};

}  // namespace tutti
