#include "decode/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

// A vocabulary is 50,000 logits a step and a sequence. Compiled for wider registers too; the loader picks by processor.
#define TUTTI_FOR_EVERY_WIDTH __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))

namespace tutti {
namespace {

constexpr std::size_t kLanes = 16;
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// exp(x) for x <= 0 within 2 ulp, by Cody and Waite's reduction and a minimax polynomial of degree 7 (Cephes, expf);
/// below -87 about 1e-38. Branch-free, so that loops over it become vector code; std::exp would not.
inline float fast_exp(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const float clamped = x < -87.0F ? -87.0F : x;
  const float shifted = clamped * 1.44269504F + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const auto exponent = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRound) + 127U;
  return p * std::bit_cast<float>(exponent << 23U);
}

TUTTI_FOR_EVERY_WIDTH float largest_of(const float* row, std::size_t size) {
  std::array<float, kLanes> lanes{};
  lanes.fill(kNever);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = row[i + lane] > lanes[lane] ? row[i + lane] : lanes[lane];
    }
  }
  for (; i < size; ++i) lanes[0] = row[i] > lanes[0] ? row[i] : lanes[0];
  return *std::ranges::max_element(lanes);
}

/// Lanes are emptied into a double every kBlock values, so that 50,000 small terms do not vanish beside a large one.
TUTTI_FOR_EVERY_WIDTH double sum_of_exp(const float* row, std::size_t size, float largest, float scale) {
  constexpr std::size_t kBlock = 64 * kLanes;
  double total = 0;
  std::size_t i = 0;
  while (i + kLanes <= size) {
    std::array<float, kLanes> lanes{};
    const std::size_t stop = std::min(i + kBlock, size / kLanes * kLanes);
    for (; i < stop; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += fast_exp((row[i + lane] - largest) * scale);
    }
    for (const float lane : lanes) total += static_cast<double>(lane);
  }
  for (; i < size; ++i) total += static_cast<double>(fast_exp((row[i] - largest) * scale));
  return total;
}

}  // namespace

double sum_of_exponentials(std::span<const float> row, float largest, float scale) {
  return sum_of_exp(row.data(), row.size(), largest, scale);
}

double log_sum_exp(std::span<const float> row) {
  const float largest = largest_of(row.data(), row.size());
  if (largest == kNever) return std::isnan(row.empty() ? 0.0F : row[0]) ? row[0] : kNever;
  return largest + std::log(sum_of_exp(row.data(), row.size(), largest, 1.0F));
}

TopTwo top_two(std::span<const float> row) {
  const float best = largest_of(row.data(), row.size());
  const auto place = std::ranges::find(row, best);
  const auto index = place == row.end() ? std::size_t{0} : static_cast<std::size_t>(place - row.begin());
  const auto after = row.subspan(index + 1);
  return {.index = static_cast<std::int32_t>(index),
          .best = best,
          .second = std::max(largest_of(row.data(), index), largest_of(after.data(), after.size()))};
}

float softmax_at(std::span<const float> row, std::int32_t index) {
  return static_cast<float>(std::exp(row[static_cast<std::size_t>(index)] - log_sum_exp(row)));
}

}  // namespace tutti
