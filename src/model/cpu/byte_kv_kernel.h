#pragma once

#include "model/cpu/byte_kv_job.h"
#include "model/cpu/lanes_math.h"

// What the byte kernels of every instruction set share.
namespace tutti {
namespace {

constexpr std::int64_t kSize = 64;
constexpr int kParts = 4;  // sixteens that a position fills
constexpr float kNothing = -3e38f;
// Cache lines that are asked for ahead of their use: the processor by itself looks no further than the end of a small
// page, and the memory of a server is far away.
constexpr std::int64_t kAhead = 64;

using Position = Lanes[kParts];

inline void load_position(Position& position, const float* from) {
  for (int i = 0; i < kParts; ++i) load(position[i], from + i * kLanes);
}

inline void find_mean(const ByteKvJob& job) {
  Position total = {};
  for (std::int64_t t = 0; t < job.positions; ++t) {
    Position here;
    load_position(here, job.from + t * job.stride);
    for (int i = 0; i < kParts; ++i) total[i] += here[i];
  }
  for (int i = 0; i < kParts; ++i) store(job.mean + i * kLanes, total[i] / static_cast<float>(job.positions));
}

}  // namespace
}  // namespace tutti
