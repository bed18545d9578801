#pragma once

#include <immintrin.h>

#include <algorithm>

#include "model/cpu/lanes.h"
#include "model/cpu/matrix/kernels.h"
#include "model/cpu/matrix/prepare_kernel.h"
#include "model/cpu/matrix/tile_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"

// int8 weights and rows of sixteen bits where two int16 are multiplied at once: a row becomes int16, and its two parts
// are inputs 0 and 2 of every group, and inputs 1 and 3. Half the multiplications of rows in two int8.
namespace tutti {
namespace {

/// Even rows are the first parts, odd ones the second. An even number of both.
template <int rows, int panels>
struct WordByByteDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  using Sums = typename WordDot<rows, panels>::Sums;
  struct Weights {
    __m256i of_part[2][2];
  };
  static Weights weights(const std::byte* from) {
    Weights w;
    for (int i = 0; i < 2; ++i) {
      const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * 32));
      w.of_part[0][i] = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
      w.of_part[1][i] = _mm256_srai_epi16(bytes, 8);
    }
    return w;
  }
  static __m256i row(std::int32_t bits) { return _mm256_set1_epi32(bits); }
  static void add(Sums& sums, const __m256i& x, const Weights& w, int row) {
    const auto* part = w.of_part[row % 2];
    WordDot<rows, panels>::add(sums, x, {{part[0], part[1]}});
  }
};

/// The words of sixteen inputs: those of the first part, then those of the second.
inline void write_parts(const HalfLanes& inputs, std::byte* first, std::byte* second) {
  std::uint16_t v[kLanes];
  write_lanes(v, inputs);
  std::uint16_t parts[2][kLanes / 2];
  for (int group = 0; group < 4; ++group) {
    for (int part = 0; part < 2; ++part) {
      parts[part][2 * group] = v[4 * group + part];
      parts[part][2 * group + 1] = v[4 * group + part + 2];
    }
  }
  std::memcpy(first, parts[0], sizeof parts[0]);
  std::memcpy(second, parts[1], sizeof parts[1]);
}

void prepare_words(const RowsJob& job) {
  constexpr float most_root = 127;  // bound on the root mean square of int8 weights
  for (std::int64_t row = 0; row < job.rows; ++row) {
    const float* x = job.x + row * job.stride;
    if (job.norm_weight) {
      normalise(job, x, job.scratch);
      x = job.scratch;
    }
    const RowScale scale{.scale = word_scale(x, job.in, most_root)};
    std::fill_n(job.scales + 2 * row, 2, scale);
    auto* first = job.out + 2 * row * job.out_stride;
    auto* second = first + job.out_stride;
    // Groups fill whole tiles: behind `in` there is space for sixteen inputs.
    for (std::int64_t group = 0; group < job.groups; group += 4) {
      const auto left = std::max<std::int64_t>(0, job.in - 4 * group);
      const auto words = left > 0 ? words_of<HalfLanes>(x + 4 * group, left, 1 / scale.scale) : HalfLanes{};
      write_parts(words, first + 4 * group, second + 4 * group);
    }
  }
}

/// `table` of int8, but for rows in two parts. Bytes: the dot of rows in one.
template <class Bytes, class Words>
Kernels with_rows_of_words(Kernels table) {
  table.prepare = [](const RowsJob& job) { job.parts == 2 ? prepare_words(job) : prepare_rows<std::uint8_t>(job); };
  table.multiply = [](const TileJob& job) { job.parts == 2 ? multiply<Words>(job) : multiply<Bytes>(job); };
  return table;
}

}  // namespace
}  // namespace tutti
