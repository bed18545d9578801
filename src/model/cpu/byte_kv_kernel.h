#pragma once

#include <algorithm>

#include "model/cpu/byte_kv_job.h"
#include "model/cpu/lanes_math.h"

// What the byte kernels of every instruction set share.
namespace tutti {
namespace {

constexpr std::int64_t kSize = 64;
constexpr int kParts = 4;                        // sixteens that a position fills
constexpr int kGroups = 16;                      // fours that a position fills
constexpr std::int64_t kBlock = kLanes * kSize;  // bytes of sixteen positions
constexpr auto kMostRows = ByteAttentionJob::kMostRows;
constexpr float kNothing = -3e38f;
// Cache lines that are prefetched ahead of their use: the processor by itself looks no further than the end of a small
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

/// The largest size of 64 numbers, and never 0: a scale is made of it.
inline float largest_size(const Position& position) {
  Lanes most = {};
  for (const auto& part : position) most = larger(larger(part, -part), most);
  return std::max(largest(most), kLeastScale);
}

/// 0, or no number where a query holds one that is none or infinite: then its own become 0, for no whole numbers are
/// like them, and what is returned has to be added to what comes of it.
inline float no_number_in(Position& query) {
  Lanes none = {};
  for (const auto& part : query) none += part * 0.0f;
  const float found = sum(none);
  if (found != 0) {
    for (auto& part : query) part = Lanes{};
  }
  return found;
}

/// Writes position t's bytes, less their 128, to their offsets among the keys.
inline void write_key(std::uint8_t* keys, std::int64_t t, const std::int8_t* bytes) {
  auto* to = keys + t / kLanes * kBlock + t % kLanes * 4;
  for (std::int64_t i = 0; i < kSize; ++i) to[i / 4 * kSize + i % 4] = static_cast<std::uint8_t>(bytes[i] + 128);
}

/// What a softmax has left instead of its scores: each weight times its value's scale.
struct Softened {
  float total = 0;    // sum of the weights
  float sum = 0;      // sum of what is left
  float largest = 0;  // largest of what is left
};

inline Softened soften(const ByteAttentionJob& job, float largest_score, float* scores) {
  Lanes total = {}, sums = {}, most = {};
  for (std::int64_t t = 0; t < job.padded; t += kLanes) {
    Lanes lanes, scales;
    load(lanes, scores + t);
    load(scales, job.value_scales + t);
    lanes = exponential(lanes - largest_score);
    total += lanes;
    lanes *= scales;
    sums += lanes;
    most = larger(lanes, most);
    store(scores + t, lanes);
  }
  return {sum(total), sum(sums), largest(most)};
}

/// The dimension of a value's number in the given lane of the quarter-th sixteen sums, as byte_kv_job.h lays them out.
inline int dimension_of(int quarter, int lane) {
  return 16 * (lane / 4) + 4 * quarter + lane % 4;
}

}  // namespace
}  // namespace tutti
