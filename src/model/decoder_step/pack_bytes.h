#pragma once

#include <math.h>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

// A window's keys and values in eight bits, a scale for every position of every head, their mean taken off first.
// A unit is a head of the keys, then one of the values.

/// Row `position` of the head less its mean, scaled and rounded.
template <class T>
TUTTI_BOTH void pack_position(const T* from, const float* mean, std::int8_t* numbers, float* scale) {
  float most = 0;
  for (int i = 0; i < kHeadSize; ++i) most = fmaxf(most, fabsf(widened(from[i]) - mean[i]));
  *scale = fmaxf(most, 1e-30F) / 127;
  for (int i = 0; i < kHeadSize; ++i) {
    numbers[i] = static_cast<std::int8_t>(rintf((widened(from[i]) - mean[i]) / *scale));
  }
}

template <class T>
struct PackBody {
  /// shared: kThreads floats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const PackJob& job, std::int64_t unit, float* shared) {
    const bool of_values = unit >= job.heads;
    const auto head = of_values ? unit - job.heads : unit;
    const auto stride = std::int64_t{2} * job.heads * kHeadSize;
    const auto* from = static_cast<const T*>(job.both) + unit * kHeadSize;
    auto* to = (of_values ? job.values : job.keys) + head * byte_head_size(job.positions);
    auto* scales = reinterpret_cast<float*>(to + std::int64_t{job.positions} * kHeadSize);
    auto* mean = scales + job.positions;
    constexpr int kTogether = kThreads / kHeadSize;
    team.each([&](int thread) {
      float sum = 0;
      for (int t = thread / kHeadSize; t < job.positions; t += kTogether) {
        sum += widened(from[t * stride + thread % kHeadSize]);
      }
      shared[thread] = sum;
    });
    team.each([&](int thread) {
      if (thread >= kHeadSize) return;
      float sum = 0;
      for (int part = 0; part < kTogether; ++part) sum += shared[part * kHeadSize + thread];
      mean[thread] = sum / static_cast<float>(job.positions);
    });
    team.each([&](int thread) {
      for (int t = thread; t < job.positions; t += kThreads) {
        pack_position(from + t * stride, mean, to + std::int64_t{t} * kHeadSize, scales + t);
      }
    });
  }
};

}  // namespace tutti
