#pragma once

#include <immintrin.h>

#include <algorithm>

#include "model/cpu/byte_kv_kernel.h"
#include "model/cpu/matrix/whole_dots_avx2.h"

// Keys and values in bytes, queries and weights in words, in registers of 256 bits.
namespace tutti {
namespace {

constexpr std::int64_t kHalf = 8;  // positions in a register

/// Two words in every lane.
__m256i two_of(const std::int16_t* words) {
  std::int32_t both;
  std::memcpy(&both, words, sizeof both);
  return _mm256_set1_epi32(both);
}

/// A row of the job: its scores, which its weights then replace; behind them the weights as words.
struct Row {
  // A query as whole numbers of fifteen bits, 64 of whose products with bytes stay far within 32: of each four the
  // first and third, then the second and fourth, as bytes are split into words.
  std::int16_t query[kSize];
  std::int32_t offset = 0;  // what the 128 that is added to every key adds to a product
  float scale = 0;
  float none = 0;  // no_number_in() the query
  float* scores = nullptr;
  __m256 most = _mm256_set1_ps(kNothing);  // maximum of the scores, lane by lane
  const std::int16_t* weights = nullptr;
  float worth = 0;  // value of a weight's 1, the softmax's sum taken into account
  __m256i sums[2 * kParts]{};

  void read(const float* q) {
    Position numbers;
    load_position(numbers, q);
    none = no_number_in(numbers);
    scale = largest_size(numbers) / 16383;
    for (int i = 0; i < kParts; ++i) {
      std::int32_t whole[kLanes];
      write_lanes(whole, rounded(numbers[i] * (1 / scale)));
      for (int lane = 0; lane < kLanes; ++lane) {
        query[i * kLanes + in_pairs(lane)] = static_cast<std::int16_t>(whole[lane]);
        offset += 128 * whole[lane];
      }
    }
  }

  /// The order of four neighbours: the first and third, then the second and fourth.
  static int in_pairs(int i) { return i / 4 * 4 + i % 2 * 2 + i % 4 / 2; }

  /// scores[t] for eight positions, of their products with the query; nothing behind the last.
  void score(const ByteAttentionJob& job, __m256i products, std::int64_t t) {
    const auto whole = _mm256_cvtepi32_ps(_mm256_sub_epi32(products, _mm256_set1_epi32(offset)));
    const auto scaled = _mm256_mul_ps(whole, _mm256_loadu_ps(job.key_scales + t));
    _mm256_storeu_ps(scores + t, _mm256_mul_ps(scaled, _mm256_set1_ps(scale / 8)));
    for (auto i = std::max(t, job.positions); i < t + kHalf; ++i) scores[i] = kNothing;
    most = _mm256_max_ps(_mm256_loadu_ps(scores + t), most);
  }

  float largest_score() const {
    float lanes[kHalf];
    _mm256_storeu_ps(lanes, most);
    return *std::max_element(lanes, lanes + kHalf);
  }

  /// Makes weights of the scores: what each position's value counts, as whole numbers of up to fifteen bits.
  void weigh(const ByteAttentionJob& job) {
    const Softened soft = soften(job, largest_score(), scores);
    // The sum of all times 127, the largest value, has to stay within 32 bits; rounding adds up to half to each.
    const float most_together = 0x1p31f * 0.999f / 127 - static_cast<float>(job.padded) / 2;
    const float unit = std::max({soft.largest / 32766, soft.sum / most_together, kLeastScale});
    auto* words = reinterpret_cast<std::int16_t*>(scores + job.padded);
    const auto times = _mm256_set1_ps(1 / unit);
    for (std::int64_t t = 0; t < job.padded; t += kLanes) {
      const auto whole = [&](std::int64_t at) {
        return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(scores + at), times));
      };
      const auto in_order = _mm256_permute4x64_epi64(_mm256_packs_epi32(whole(t), whole(t + kHalf)), 0xd8);
      // The second and third of four neighbours are swapped, as in in_pairs().
      const auto low = _mm256_shufflelo_epi16(in_order, 0xd8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + t), _mm256_shufflehi_epi16(low, 0xd8));
    }
    weights = words;
    worth = unit / soft.total + none;
  }

  void write(const float* value_mean, float* out) const {
    for (int i = 0; i < kParts; ++i) {
      std::int32_t lanes[kLanes];
      std::memcpy(lanes, sums + 2 * i, sizeof lanes);
      for (int lane = 0; lane < kLanes; ++lane) {
        const int dimension = dimension_of(i, lane);
        out[dimension] = static_cast<float>(lanes[lane]) * worth + value_mean[dimension];
      }
    }
  }
};

constexpr std::int64_t kTogether = 4 * kLanes;  // positions that stay in the fastest cache while every row reads them

/// Products of `registers` neighbouring registers of keys or values with words of each row, added to sums[row].
/// bytes(group, i, even, odd) reads a group's i-th register and splits it into words; words(row, group) are four.
template <int count, int registers, class Bytes, class Words>
inline void add_products(std::int64_t groups, Bytes bytes, Words words, __m256i (&sums)[count][registers]) {
#pragma GCC unroll 4
  for (std::int64_t g = 0; g < groups; ++g) {
    __m256i even[registers], odd[registers];
#pragma GCC unroll 8
    for (int i = 0; i < registers; ++i) bytes(g, i, even[i], odd[i]);
#pragma GCC unroll 5
    for (int r = 0; r < count; ++r) {
      const auto first = two_of(words(r, g)), second = two_of(words(r, g) + 2);
#pragma GCC unroll 8
      for (int i = 0; i < registers; ++i) {
        sums[r][i] = with_words(with_words(sums[r][i], even[i], first), odd[i], second);
      }
    }
  }
}

/// Sixteen positions' scores of every row: two registers of keys.
template <int count>
void score(const ByteAttentionJob& job, std::int64_t t, Row* rows) {
  const auto* block = job.keys + t * kSize;
  __m256i sums[count][2] = {};
  const auto bytes = [&](std::int64_t g, int i, __m256i& even, __m256i& odd) {
    const auto* group = block + g * kSize;
    if (i == 0) _mm_prefetch(group + kAhead * kSize, _MM_HINT_T0);
    const auto of_group = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(group) + i);
    even = _mm256_and_si256(of_group, _mm256_set1_epi16(0xff));
    odd = _mm256_srli_epi16(of_group, 8);
  };
  add_products(
      kGroups, bytes, [&](int r, std::int64_t g) { return rows[r].query + 4 * g; }, sums);
  for (int r = 0; r < count; ++r) {
    for (int i = 0; i < 2; ++i) rows[r].score(job, sums[r][i], t + i * kHalf);
  }
}

/// Adds the weighted values of positions [from, to) to every row's sums.
template <int count>
void add_values(const std::int8_t* values, std::int64_t from, std::int64_t to, Row* rows) {
  constexpr int registers = count == 1 ? 4 : 2;  // sums of all rows and what is added to them fill sixteen
  for (int part = 0; part < 2 * kParts; part += registers) {
    __m256i sums[count][registers];
    for (int r = 0; r < count; ++r) std::memcpy(sums[r], rows[r].sums + part, sizeof sums[r]);
    const auto bytes = [&](std::int64_t g, int i, __m256i& even, __m256i& odd) {
      const auto* four = reinterpret_cast<const __m256i*>(values + (from + 4 * g) * kSize);
      if (part == 0) {
        for (int line = i; line < kParts; line += registers) _mm_prefetch(four + 2 * (kAhead + line), _MM_HINT_T0);
      }
      const auto of_four = _mm256_loadu_si256(four + part + i);
      even = _mm256_srai_epi16(_mm256_slli_epi16(of_four, 8), 8);
      odd = _mm256_srai_epi16(of_four, 8);
    };
    add_products((to - from) / 4, bytes, [&](int r, std::int64_t g) { return rows[r].weights + from + 4 * g; }, sums);
    for (int r = 0; r < count; ++r) std::memcpy(rows[r].sums + part, sums[r], sizeof sums[r]);
  }
}

template <int count>
void attend_rows(const ByteAttentionJob& job, float* scratch) {
  Row rows[count];
  for (int r = 0; r < count; ++r) {
    rows[r].read(job.q + r * job.stride);
    rows[r].scores = scratch + r * ByteAttentionJob::scratch_size(job.padded);
  }
  for (std::int64_t t = 0; t < job.padded; t += kLanes) score<count>(job, t, rows);
  for (auto& row : rows) row.weigh(job);
  for (std::int64_t t = 0; t < job.padded; t += kTogether) {
    add_values<count>(job.values, t, std::min(job.padded, t + kTogether), rows);
  }
  for (int r = 0; r < count; ++r) rows[r].write(job.value_mean, job.out + r * job.stride);
}

void attend(const ByteAttentionJob& job, float* scratch) {
  static_assert(kMostRows == 5);
  constexpr decltype(&attend) by_rows[] = {attend_rows<1>, attend_rows<2>, attend_rows<3>, attend_rows<4>,
                                           attend_rows<5>};
  by_rows[job.rows - 1](job, scratch);
}

}  // namespace
}  // namespace tutti
