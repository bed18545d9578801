#pragma once

#include <math.h>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

// A window's keys and values in eight bits, a scale for every position of every head, their mean taken off first. A
// unit is a part of a head's positions: the keys' heads, then the values'.

template <class T>
struct PackUnit {
  static constexpr int kN = kPiece<T>, kMembers = kHeadSize / kN;  // threads of a position
  static constexpr int kGroups = kThreads / kMembers;

  std::int32_t head, part;   // of 2 * heads
  std::int32_t first, last;  // positions [first, last)
  std::int32_t stride;
  const T* from;

  TUTTI_BOTH PackUnit(const PackJob& job, std::int64_t unit) {
    const auto parts = pack_parts(job.positions);
    head = static_cast<std::int32_t>(unit / parts);
    part = static_cast<std::int32_t>(unit % parts);
    first = part * kPackPositions;
    last = first + kPackPositions < job.positions ? first + kPackPositions : job.positions;
    stride = 2 * job.heads * kHeadSize;
    from = static_cast<const T*>(job.both) + head * kHeadSize;
  }

  template <class Team>
  TUTTI_TEAM Floats<kN> load(const Team& team, std::int32_t position, int member) const {
    return load_floats<kN>(team, from + std::int64_t{position} * stride + member * kN);
  }
};

/// The sums over a part's positions.
template <class T>
struct PackSumBody {
  static constexpr const char* kName = "pack sums";
  using Unit = PackUnit<T>;
  static constexpr int kN = Unit::kN, kMembers = Unit::kMembers, kGroups = Unit::kGroups;
  static constexpr int kSharedFloats = kGroups * kHeadSize;
  using Lane = Floats<kN>;

  /// shared: kSharedFloats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const PackJob& job, std::int64_t index, float* shared) {
    const Unit unit(job, index);
    team.template each_group<Lane, kMembers>([&](auto& group) {
      group.each([&](Lane& sums, int member) {
        for (int t = unit.first + group.index; t < unit.last; t += kGroups) {
          const auto numbers = unit.load(team, t, member);
          for (int i = 0; i < kN; ++i) sums.at[i] += numbers.at[i];
        }
        write_floats(team, shared + group.index * kHeadSize + member * kN, sums);
      });
    });
    team.each([&](int thread) {
      if (thread >= kHeadSize) return;
      float sum = 0;
      for (int group = 0; group < kGroups; ++group) sum += shared[group * kHeadSize + thread];
      job.sums[index * kHeadSize + thread] = sum;
    });
  }
};

template <class T>
struct PackBody {
  static constexpr const char* kName = "pack";
  using Unit = PackUnit<T>;
  static constexpr int kN = Unit::kN, kMembers = Unit::kMembers, kGroups = Unit::kGroups;
  static constexpr int kSharedFloats = kHeadSize;
  using Lane = Floats<kN>;

  /// shared: kSharedFloats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const PackJob& job, std::int64_t index, float* shared) {
    const Unit unit(job, index);
    const bool of_values = unit.head >= job.heads;
    auto* to = of_values ? job.values + (unit.head - job.heads) * byte_head_size(job.positions)
                         : job.keys + unit.head * byte_head_size(job.positions);
    auto* scales = reinterpret_cast<float*>(to + std::int64_t{job.positions} * kHeadSize);
    team.each([&](int thread) {
      if (thread >= kHeadSize) return;
      const auto parts = pack_parts(job.positions);
      const float* sums = job.sums + std::int64_t{unit.head} * parts * kHeadSize + thread;
      float sum = 0;
      for (std::int32_t part = 0; part < parts; ++part) sum += team.load(sums + part * kHeadSize);
      shared[thread] = sum / static_cast<float>(job.positions);
      if (unit.part == 0) scales[job.positions + thread] = shared[thread];
    });
    // Every group goes round as often, for all of a warp take part in finding the largest.
    team.template each_group<Lane, kMembers>([&](auto& group) {
      for (int first = unit.first; first < unit.last; first += kGroups) {
        const auto t = first + group.index, own = t < unit.last ? t : unit.last - 1;
        const float most = group.greatest([&](Lane& numbers, int member) {
          numbers = unit.load(team, own, member);
          const auto centre = read_floats<kN>(team, shared + member * kN);
          float greatest = 0;
          for (int i = 0; i < kN; ++i) {
            numbers.at[i] -= centre.at[i];
            greatest = fmaxf(greatest, fabsf(numbers.at[i]));
          }
          return greatest;
        });
        const float scale = fmaxf(most, 1e-30F) / 127;
        group.each([&](const Lane& numbers, int member) {
          if (t != own) return;
          using Bytes = Piece<std::int8_t, kN>;
          Bytes bytes;
          for (int i = 0; i < kN; ++i) bytes.at[i] = static_cast<std::int8_t>(rintf(numbers.at[i] / scale));
          team.write(reinterpret_cast<Bytes*>(to + std::int64_t{own} * kHeadSize + member * kN), bytes);
          if (member == 0) scales[own] = scale;
        });
      }
    });
  }
};

}  // namespace tutti
