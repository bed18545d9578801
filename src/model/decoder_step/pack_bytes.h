#pragma once

#include <math.h>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

// A window's keys and values in eight bits, a scale for every position of every head, their mean taken off first.
// A unit is a head of the keys, then one of the values.

template <class T>
struct PackBody {
  static constexpr const char* kName = "pack";
  static constexpr int kN = kPiece<T>, kMembers = kHeadSize / kN;  // threads of a position
  static constexpr int kGroups = kThreads / kMembers;
  static constexpr int kSharedFloats = kGroups * kHeadSize;
  using Lane = Floats<kN>;

  /// shared: kSharedFloats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const PackJob& job, std::int64_t index, float* shared) {
    const auto unit = static_cast<std::int32_t>(index);
    const bool of_values = unit >= job.heads;
    const auto head = of_values ? unit - job.heads : unit;
    const auto stride = 2 * job.heads * kHeadSize;
    const auto* from = static_cast<const T*>(job.both) + unit * kHeadSize;
    auto* to = (of_values ? job.values : job.keys) + head * byte_head_size(job.positions);
    auto* scales = reinterpret_cast<float*>(to + job.positions * kHeadSize);
    auto* mean = scales + job.positions;
    team.template each_group<Lane, kMembers>([&](auto& group) {
      group.each([&](Lane& sums, int member) {
        for (int t = group.index; t < job.positions; t += kGroups) {
          const auto numbers = load_floats<kN>(team, from + t * stride + member * kN);
          for (int i = 0; i < kN; ++i) sums.at[i] += numbers.at[i];
        }
        write_floats(team, shared + group.index * kHeadSize + member * kN, sums);
      });
    });
    team.each([&](int thread) {
      if (thread >= kHeadSize) return;
      float sum = 0;
      for (int part = 0; part < kGroups; ++part) sum += shared[part * kHeadSize + thread];
      shared[thread] = mean[thread] = sum / static_cast<float>(job.positions);
    });
    // Every group goes round as often, for all of a warp take part in finding the largest.
    team.template each_group<Lane, kMembers>([&](auto& group) {
      for (int first = 0; first < job.positions; first += kGroups) {
        const auto t = first + group.index, own = t < job.positions ? t : job.positions - 1;
        const float most = group.greatest([&](Lane& numbers, int member) {
          numbers = load_floats<kN>(team, from + own * stride + member * kN);
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
          team.write(reinterpret_cast<Bytes*>(to + own * kHeadSize + member * kN), bytes);
          if (member == 0) scales[own] = scale;
        });
      }
    });
  }
};

}  // namespace tutti
