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

/// Below every score, and finite: the weight of a group without positions is exp(kNoScore - score) = 0, never NaN.
inline constexpr float kNoScore = -1e30F;

/// Which part of a job a unit is.
struct AttendUnit {
  std::int32_t row, head;
  std::int32_t first, count;  // positions

  TUTTI_BOTH static AttendUnit of(const AttendJob& job, std::int32_t unit) {
    const auto split = unit % job.splits, of_row = unit / job.splits;
    const auto row = of_row / job.heads;
    const auto length = job.table[row].length, share = (length + job.splits - 1) / job.splits;
    const auto first = split * share < length ? split * share : length;
    return {row, of_row % job.heads, first, share < length - first ? share : length - first};
  }
};

template <class T>
TUTTI_BOTH void finish_attention(const AttendJob& job, const AttendUnit& unit, int dimension, float value) {
  static_cast<T*>(job.out)[(unit.row * job.heads + unit.head) * kHeadSize + dimension] = narrowed<T>(value);
}

/// What a thread keeps of the positions of its group: a softmax that goes on, over kPiece<K> of the 64 dimensions.
template <class K>
struct AttendLane {
  static constexpr int kNumbers = kPiece<K>;
  /// Positions whose keys and values are loaded before the first is used. Those of one byte fill more registers each.
  static constexpr int kAhead = sizeof(K) == 1 ? 2 : 4;

  Floats<kNumbers> query{}, sums{};
  float most = kNoScore, weight = 0;
  Piece<K> values[kAhead]{};
  float scales[kAhead]{};

  TUTTI_TEAM float score(const Piece<K>& key) const {
    const auto numbers = widened(key);
    float sum = 0;
    for (int i = 0; i < kNumbers; ++i) sum += query.at[i] * numbers.at[i];
    return sum;
  }

  /// The positions whose values were loaded, with these scores.
  TUTTI_TEAM void add(const Floats<kAhead>& scores) {
    float now = most;
    for (float score : scores.at) now = fmaxf(now, score);
    const float factor = expf(most - now);
    most = now;
    weight *= factor;
    for (float& sum : sums.at) sum *= factor;
    for (int j = 0; j < kAhead; ++j) {
      const float part = expf(scores.at[j] - now), scaled = part * scales[j];
      const auto numbers = widened(values[j]);
      weight += part;
      for (int i = 0; i < kNumbers; ++i) sums.at[i] += scaled * numbers.at[i];
    }
  }
};

template <class T, class K>
struct AttendBody {
  static constexpr const char* kName = "attend";
  using Lane = AttendLane<K>;
  static constexpr int kMembers = kHeadSize / Lane::kNumbers;  // threads of a group
  static constexpr int kGroups = kThreads / kMembers;          // the positions that a team loads at once
  static constexpr int kRound = kGroups * Lane::kAhead;
  static constexpr int kParts = kThreads / kHeadSize;
  /// The shared memory that it needs: the groups' sums, the parts of their totals, their largest scores and weights.
  static constexpr int kSharedFloats = kGroups * kHeadSize + kThreads + 2 * kGroups;

  /// shared: kSharedFloats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AttendJob& job, std::int64_t index, float* shared) {
    const auto unit = AttendUnit::of(job, static_cast<std::int32_t>(index));
    const auto& seen = job.table[unit.row];
    const auto keys = HeadNumbers<K>::of(seen.keys, unit.head, job.positions);
    const auto values = HeadNumbers<K>::of(seen.values, unit.head, job.positions);
    const auto* q = static_cast<const T*>(job.q) + unit.row * job.q_stride + unit.head * kHeadSize;
    float* parts = shared + kGroups * kHeadSize;
    float* most_of = parts + kThreads;
    float* weight_of = most_of + kGroups;
    team.template each_group<Lane, kMembers>([&](auto& group) {
      group.each([&](Lane& lane, int member) {
        lane.query = load_floats<Lane::kNumbers>(team, q + member * Lane::kNumbers);
        for (float& number : lane.query.at) number *= 0.125F;
      });
      std::int32_t done = 0;
      for (; done + kRound <= unit.count; done += kRound) add_round<false>(team, group, unit, keys, values, done);
      if (done < unit.count) add_round<true>(team, group, unit, keys, values, done);
      group.each([&](const Lane& lane, int member) {
        write_floats(team, shared + group.index * kHeadSize + member * Lane::kNumbers, lane.sums);
        if (member == 0) most_of[group.index] = lane.most, weight_of[group.index] = lane.weight;
      });
    });
    const float most = team.greatest([&](int thread) { return thread < kGroups ? most_of[thread] : kNoScore; });
    const float weight = team.total([&](int thread) {
      if (thread >= kGroups) return 0.0F;
      const float factor = most_of[thread] = expf(most_of[thread] - most);
      return factor * weight_of[thread];
    });
    team.each([&](int thread) {
      float sum = 0;
      for (int i = thread / kHeadSize; i < kGroups; i += kParts) {
        sum += most_of[i] * shared[i * kHeadSize + thread % kHeadSize];
      }
      parts[thread] = sum;
    });
    team.each([&](int dimension) {
      if (dimension >= kHeadSize) return;
      float sum = 0;
      for (int part = 0; part < kParts; ++part) sum += parts[part * kHeadSize + dimension];
      if (job.splits == 1)
        return finish_attention<T>(job, unit, dimension, sum / weight + values.mean(team, dimension));
      float* partial = job.scratch + static_cast<std::int32_t>(index) * kPartial;
      partial[2 + dimension] = sum;
      if (dimension == 0) partial[0] = most, partial[1] = weight;
    });
  }

 private:
  /// Adds kRound positions from the unit's position `done` on. kLast: some of them are none; their scores are minus
  /// infinity, and the unit's last position is loaded instead.
  template <bool kLast, class Team, class Group>
  TUTTI_TEAM static void add_round(const Team& team, Group& group, const AttendUnit& unit, const HeadNumbers<K>& keys,
                                   const HeadNumbers<K>& values, std::int32_t done) {
    const auto first = done + group.index;
    auto scores = group.sums([&](Lane& lane, int member) {
      const auto begin = unit.first + first;
      const auto* key_of = keys.numbers + begin * kMembers + member;
      const auto* value_of = values.numbers + begin * kMembers + member;
      Piece<K> key[Lane::kAhead];
      float scale[Lane::kAhead];
      for (int j = 0; j < Lane::kAhead; ++j) {
        const auto next = !kLast || first + j * kGroups < unit.count ? j * kGroups : unit.count - 1 - first;
        key[j] = team.load(key_of + next * kMembers);
        scale[j] = keys.scale(team, begin + next);
        lane.values[j] = team.load(value_of + next * kMembers);
        lane.scales[j] = values.scale(team, begin + next);
      }
      Floats<Lane::kAhead> sums;
      for (int j = 0; j < Lane::kAhead; ++j) sums.at[j] = lane.score(key[j]) * scale[j];
      return sums;
    });
    for (int j = 0; j < Lane::kAhead; ++j) {
      if (kLast && first + j * kGroups >= unit.count) scores.at[j] = -INFINITY;
    }
    group.each([&](Lane& lane, int) { lane.add(scores); });
  }
};

/// A head of a row whose splits are done.
template <class T, class K>
struct MergeBody {
  static constexpr const char* kName = "merge";

  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AttendJob& job, std::int64_t index, float*) {
    const auto head = static_cast<std::int32_t>(index);
    const AttendUnit unit{head / job.heads, head % job.heads, 0, 0};
    const auto values = HeadNumbers<K>::of(job.table[unit.row].values, unit.head, job.positions);
    const float* partials = job.scratch + head * job.splits * kPartial;
    team.each([&](int dimension) {
      if (dimension >= kHeadSize) return;
      float most = -INFINITY, weight = 0, sum = 0;
      for (int split = 0; split < job.splits; ++split) most = fmaxf(most, partials[split * kPartial]);
      for (int split = 0; split < job.splits; ++split) {
        const float* partial = partials + split * kPartial;
        const float factor = expf(partial[0] - most);  // 0 for a split without positions
        weight += factor * partial[1];
        sum += factor * partial[2 + dimension];
      }
      finish_attention<T>(job, unit, dimension, sum / weight + values.mean(team, dimension));
    });
  }
};

}  // namespace tutti
