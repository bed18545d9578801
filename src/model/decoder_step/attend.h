#pragma once

#include <math.h>

#include "model/decoder_step/attend_lane.h"
#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

// Attention of query rows over the keys and values of their own sequences: softmax(q keys^T / 8) values. A unit is a
// head of a row, or of a few rows that see the same; or a split of its positions where rows and heads alone are too few
// for the device; splits are put together by MergeBody. A row's result depends on nothing but the row, its sequence,
// the number of splits and whether rows share: not on how many do, nor on the others.

/// Floats that a unit keeps of a row's positions: the largest score, the sum of weights, 64 weighted sums of values.
inline constexpr int kPartial = 2 + kHeadSize;

/// Which part of a job a unit is.
struct AttendUnit {
  SharedRows rows;
  std::int32_t head;
  std::int32_t split;
  std::int32_t first, count;  // positions

  TUTTI_BOTH static AttendUnit of(const AttendJob& job, SharedRows rows, std::int32_t unit) {
    const auto split = unit % job.splits;
    const auto length = job.table[rows.first].length, share = (length + job.splits - 1) / job.splits;
    const auto first = split * share < length ? split * share : length;
    return {rows, unit / job.splits % job.heads, split, first, share < length - first ? share : length - first};
  }
};

template <class T>
TUTTI_BOTH void finish_attention(const AttendJob& job, std::int32_t row, std::int32_t head, int dimension,
                                 float value) {
  static_cast<T*>(job.out)[(row * job.heads + head) * kHeadSize + dimension] = narrowed<T>(value);
}

/// kQueries: the rows of a unit at most. One: job.shared is not looked at.
template <class T, class K, int kQueries>
struct AttendRows {
  using Lane = AttendLane<K, kQueries>;
  using Numbers = typename Lane::Numbers;
  static constexpr int kMembers = kHeadSize / Lane::kNumbers;  // threads of a group
  static constexpr int kGroups = kThreads / kMembers;          // the positions that a team loads at once
  static constexpr int kRound = kGroups * Lane::kAhead;
  static constexpr int kParts = kThreads / kHeadSize;
  /// The shared memory that it needs: of each query the groups' sums, their largest scores and weights; the parts of
  /// their totals, and before that the queries where there are several.
  static constexpr int kOfQuery = kGroups * kHeadSize + 2 * kGroups;
  static constexpr int kOfTeam = kThreads > kQueries* kHeadSize ? kThreads : kQueries* kHeadSize;
  static constexpr int kSharedFloats = kQueries * kOfQuery + kOfTeam;

  /// shared: kSharedFloats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AttendJob& job, std::int64_t index, float* shared) {
    const auto number = static_cast<std::int32_t>(index);
    SharedRows rows{number / job.splits / job.heads, 1};
    if constexpr (kQueries > 1) rows = job.shared[rows.first];
    if (rows.count == 0) return;
    const auto unit = AttendUnit::of(job, rows, number);
    const auto& seen = job.table[rows.first];
    const auto keys = HeadNumbers<K>::of(seen.keys, unit.head, job.positions);
    const auto values = HeadNumbers<K>::of(seen.values, unit.head, job.positions);
    const auto* q = static_cast<const T*>(job.q) + rows.first * job.q_stride + unit.head * kHeadSize;
    float* queries = shared + kQueries * kOfQuery;
    if constexpr (kQueries > 1) read_queries(team, job, rows, q, queries);
    team.template each_group<Lane, kMembers>([&](auto& group) {
      if constexpr (kQueries == 1) {
        group.each([&](Lane& lane, int member) { lane.query = scaled_query(team, q + member * Lane::kNumbers); });
      }
      std::int32_t done = 0;
      for (; done + kRound <= unit.count; done += kRound)
        add_round<false>(team, group, unit, keys, values, queries, done);
      if (done < unit.count) add_round<true>(team, group, unit, keys, values, queries, done);
      group.each([&](const Lane& lane, int member) {
        for (int query = 0; query < kQueries; ++query) {
          float* sums = shared + query * kOfQuery;
          write_floats(team, sums + group.index * kHeadSize + member * Lane::kNumbers, lane.sums[query]);
          sums += kGroups * kHeadSize + group.index;
          if (member == 0) sums[0] = lane.most[query], sums[kGroups] = lane.weight[query];
        }
      });
    });
    for (std::int32_t i = 0; i < rows.count; ++i) add_up(team, job, unit, values, i, shared + i * kOfQuery, queries);
  }

 private:
  template <class Team>
  TUTTI_TEAM static Floats<Lane::kNumbers> scaled_query(const Team& team, const T* from) {
    auto query = load_floats<Lane::kNumbers>(team, from);
    for (float& number : query.at) number *= 0.125F;
    return query;
  }

  /// A row that there is not has the last one's query; nothing comes of it.
  template <class Team>
  TUTTI_TEAM static void read_queries(const Team& team, const AttendJob& job, SharedRows rows, const T* q,
                                      float* queries) {
    constexpr int kN = kPiece<T>, kPieces = kHeadSize / kN;
    team.each([&](int thread) {
      if (thread >= kQueries * kPieces) return;
      const auto row = thread / kPieces < rows.count ? thread / kPieces : rows.count - 1;
      const auto at = thread % kPieces * kN;
      auto query = load_floats<kN>(team, q + row * job.q_stride + at);
      for (float& number : query.at) number *= 0.125F;
      write_floats(team, queries + thread / kPieces * kHeadSize + at, query);
    });
  }

  /// Adds kRound positions from the unit's position `done` on. kLast: some of them are none; their scores are minus
  /// infinity, and the unit's last position is loaded instead.
  template <bool kLast, class Team, class Group>
  TUTTI_TEAM static void add_round(const Team& team, Group& group, const AttendUnit& unit, const HeadNumbers<K>& keys,
                                   const HeadNumbers<K>& values, const float* queries, std::int32_t done) {
    const auto first = done + group.index;
    auto scores = group.sums([&](Lane& lane, int member) {
      const auto begin = unit.first + first;
      const auto* key_of = reinterpret_cast<const Numbers*>(keys.numbers) + begin * kMembers + member;
      const auto* value_of = reinterpret_cast<const Numbers*>(values.numbers) + begin * kMembers + member;
      Numbers key[Lane::kAhead];
      float scale[Lane::kAhead];
      for (int j = 0; j < Lane::kAhead; ++j) {
        const auto next = !kLast || first + j * kGroups < unit.count ? j * kGroups : unit.count - 1 - first;
        key[j] = team.load(key_of + next * kMembers);
        scale[j] = keys.scale(team, begin + next);
        lane.values[j] = team.load(value_of + next * kMembers);
        lane.scales[j] = values.scale(team, begin + next);
      }
      typename Lane::Scores sums;
      for (int q = 0; q < kQueries; ++q) {
        auto query = lane.query;
        if constexpr (kQueries > 1) {
          query = read_floats<Lane::kNumbers>(team, queries + q * kHeadSize + member * Lane::kNumbers);
        }
        for (int j = 0; j < Lane::kAhead; ++j) {
          const auto numbers = widened(key[j]);
          float sum = 0;
          for (int i = 0; i < Lane::kNumbers; ++i) sum += query.at[i] * numbers.at[i];
          sums.at[q * Lane::kAhead + j] = sum * scale[j];
        }
      }
      return sums;
    });
    for (int i = 0; i < kQueries * Lane::kAhead; ++i) {
      if (kLast && first + i % Lane::kAhead * kGroups >= unit.count) scores.at[i] = -INFINITY;
    }
    group.each([&](Lane& lane, int) { lane.add(scores); });
  }

  /// The result of the unit's `query`-th row, or its partial one, from what the groups found. parts: [kThreads].
  template <class Team>
  TUTTI_TEAM static void add_up(const Team& team, const AttendJob& job, const AttendUnit& unit,
                                const HeadNumbers<K>& values, std::int32_t query, float* sums, float* parts) {
    float* most_of = sums + kGroups * kHeadSize;
    const float* weight_of = most_of + kGroups;
    const float most = team.greatest([&](int thread) { return thread < kGroups ? most_of[thread] : kNoScore; });
    const float weight = team.total([&](int thread) {
      if (thread >= kGroups) return 0.0F;
      const float factor = most_of[thread] = expf(most_of[thread] - most);
      return factor * weight_of[thread];
    });
    team.each([&](int thread) {
      float sum = 0;
      for (int i = thread / kHeadSize; i < kGroups; i += kParts) {
        sum += most_of[i] * sums[i * kHeadSize + thread % kHeadSize];
      }
      parts[thread] = sum;
    });
    const auto row = unit.rows.first + query;
    team.each([&](int dimension) {
      if (dimension >= kHeadSize) return;
      float sum = 0;
      for (int part = 0; part < kParts; ++part) sum += parts[part * kHeadSize + dimension];
      if (job.splits == 1)
        return finish_attention<T>(job, row, unit.head, dimension, sum / weight + values.mean(team, dimension));
      float* partial = job.scratch + ((row * job.heads + unit.head) * job.splits + unit.split) * kPartial;
      partial[2 + dimension] = sum;
      if (dimension == 0) partial[0] = most, partial[1] = weight;
    });
  }
};

/// Each row by itself.
template <class T, class K>
struct AttendBody : AttendRows<T, K, 1> {
  static constexpr const char* kName = "attend";
};

/// The rows of job.shared.
template <class T, class K>
struct AttendSharedBody : AttendRows<T, K, kMostSharedRows> {
  static constexpr const char* kName = "attend shared";
};

/// A head of a row whose splits are done.
template <class T, class K>
struct MergeBody {
  static constexpr const char* kName = "merge";

  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AttendJob& job, std::int64_t index, float*) {
    const auto head = static_cast<std::int32_t>(index);
    const auto row = head / job.heads, of_row = head % job.heads;
    const auto values = HeadNumbers<K>::of(job.table[row].values, of_row, job.positions);
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
      finish_attention<T>(job, row, of_row, dimension, sum / weight + values.mean(team, dimension));
    });
  }
};

}  // namespace tutti
