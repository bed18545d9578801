#include <immintrin.h>

#include <algorithm>

#include "model/cpu/byte_kv_kernel.h"

namespace tutti {
namespace {

/// Position t less the mean as 64 whole numbers from -127 to 127, and what one of them is worth. Behind the last:
/// zeros.
__m512i to_bytes(const ByteKvJob& job, std::int64_t t) {
  if (t >= job.positions) {
    job.scales[t] = 0;
    return _mm512_setzero_si512();
  }
  Position here, mean;
  load_position(here, job.from + t * job.stride);
  load_position(mean, job.mean);
  for (int i = 0; i < kParts; ++i) here[i] -= mean[i];
  const float scale = largest_size(here) / 127;
  job.scales[t] = scale;
  alignas(64) std::int8_t bytes[kSize];
  for (int i = 0; i < kParts; ++i) {
    const auto whole = _mm512_cvtps_epi32(bits_as<__m512>(here[i] * (1 / scale)));
    _mm_store_si128(reinterpret_cast<__m128i*>(bytes) + i, _mm512_cvtepi32_epi8(whole));
  }
  return _mm512_load_si512(bytes);
}

void pack_keys(const ByteKvJob& job, std::uint8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; ++t) {
    alignas(64) std::int8_t bytes[kSize];
    _mm512_store_si512(bytes, to_bytes(job, t));
    write_key(to, t, bytes);
  }
}

void pack_values(const ByteKvJob& job, std::int8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; t += 4, to += 4 * kSize) {
    __m512i rows[4];
    for (int p = 0; p < 4; ++p) rows[p] = to_bytes(job, t + p);
    const auto first_low = _mm512_unpacklo_epi8(rows[0], rows[1]), first_high = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const auto last_low = _mm512_unpacklo_epi8(rows[2], rows[3]), last_high = _mm512_unpackhi_epi8(rows[2], rows[3]);
    _mm512_storeu_si512(to, _mm512_unpacklo_epi16(first_low, last_low));
    _mm512_storeu_si512(to + kSize, _mm512_unpackhi_epi16(first_low, last_low));
    _mm512_storeu_si512(to + 2 * kSize, _mm512_unpacklo_epi16(first_high, last_high));
    _mm512_storeu_si512(to + 3 * kSize, _mm512_unpackhi_epi16(first_high, last_high));
  }
}

/// Four bytes in every lane.
__m512i four_of(const void* bytes) {
  std::int32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return _mm512_set1_epi32(word);
}

/// A query as whole numbers of fifteen bits, each in two bytes: 128 * coarse + fine.
struct Query {
  alignas(64) std::int8_t coarse[kSize];
  alignas(64) std::int8_t fine[kSize];
  std::int32_t offset = 0;  // what the 128 that is added to every key adds to a product
  float scale = 0;
  float none = 0;  // no_number_in() it

  void read(const float* q) {
    Position numbers;
    load_position(numbers, q);
    none = no_number_in(numbers);
    scale = largest_size(numbers) / (127 * 128);
    for (int i = 0; i < kParts; ++i) {
      const auto whole = _mm512_cvtps_epi32(bits_as<__m512>(numbers[i] * (1 / scale)));
      const auto upper = _mm512_srai_epi32(_mm512_add_epi32(whole, _mm512_set1_epi32(64)), 7);
      const auto lower = _mm512_sub_epi32(whole, _mm512_slli_epi32(upper, 7));
      _mm_store_si128(reinterpret_cast<__m128i*>(coarse) + i, _mm512_cvtepi32_epi8(upper));
      _mm_store_si128(reinterpret_cast<__m128i*>(fine) + i, _mm512_cvtepi32_epi8(lower));
      offset += 128 * _mm512_reduce_add_epi32(whole);
    }
  }

  /// With each of sixteen positions.
  __m512i products(const __m512i (&keys)[kGroups]) const {
    // Four sums of each kind: one would wait for itself.
    __m512i upper[4] = {}, lower[4] = {};
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g) {
      upper[g % 4] = _mm512_dpbusd_epi32(upper[g % 4], keys[g], four_of(coarse + 4 * g));
      lower[g % 4] = _mm512_dpbusd_epi32(lower[g % 4], keys[g], four_of(fine + 4 * g));
    }
    const auto total = [](const __m512i(&of)[4]) {
      return _mm512_add_epi32(_mm512_add_epi32(of[0], of[1]), _mm512_add_epi32(of[2], of[3]));
    };
    const auto whole = _mm512_add_epi32(_mm512_slli_epi32(total(upper), 7), total(lower));
    return _mm512_sub_epi32(whole, _mm512_set1_epi32(offset));
  }
};

/// A row of the job: its scores, which its weights then replace; behind them the weights' two rows of bytes.
struct Row {
  Query query;
  float* scores = nullptr;
  Lanes most{};  // maximum of the scores, lane by lane
  const std::uint8_t* high = nullptr;
  const std::uint8_t* low = nullptr;
  float worth = 0;  // value of a weight's 1, the softmax's sum taken into account
  __m512i sums[2][kParts]{};

  /// scores[t] = q . keys[t] / 8 for sixteen positions, and nothing behind the last.
  void score(const ByteAttentionJob& job, const __m512i (&keys)[kGroups], std::int64_t t) {
    Lanes scales;
    load(scales, job.key_scales + t);
    Lanes here = bits_as<Lanes>(_mm512_cvtepi32_ps(query.products(keys))) * scales * (query.scale / 8);
    if (t + kLanes > job.positions) {
      for (auto i = job.positions - t; i < kLanes; ++i) here[i] = kNothing;
    }
    store(scores + t, here);
    most = here > most ? here : most;
  }

  /// Makes weights of the scores: what each position's value counts, as whole numbers of sixteen bits.
  void weigh(const ByteAttentionJob& job) {
    const Softened soft = soften(job, largest(most), scores);
    auto* bytes = reinterpret_cast<std::uint8_t*>(scores + job.padded);
    const float unit = std::max(soft.largest, kLeastScale) / 65535;
    for (std::int64_t t = 0; t < job.padded; t += kLanes) {
      Lanes lanes;
      load(lanes, scores + t);
      const auto whole = _mm512_cvtps_epi32(bits_as<__m512>(lanes * (1 / unit)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + t), _mm512_cvtepi32_epi8(_mm512_srli_epi32(whole, 8)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + job.padded + t), _mm512_cvtepi32_epi8(whole));
    }
    high = bytes;
    low = bytes + job.padded;
    worth = unit / soft.total + query.none;
  }

  /// Adds the weighted values of positions [from, to). ahead: prefetches those that come next.
  template <bool ahead>
  void add_values(const std::int8_t* values, std::int64_t from, std::int64_t to) {
    __m512i upper[kParts], lower[kParts];
    for (int i = 0; i < kParts; ++i) upper[i] = sums[0][i], lower[i] = sums[1][i];
    for (auto t = from; t < to; t += 4) {
      const auto by_upper = four_of(high + t), by_lower = four_of(low + t);
#pragma GCC unroll 4
      for (int i = 0; i < kParts; ++i) {
        if constexpr (ahead) _mm_prefetch(values + (t + i + kAhead) * kSize, _MM_HINT_T0);
        const auto bytes = _mm512_loadu_si512(values + (t + i) * kSize);
        upper[i] = _mm512_dpbusd_epi32(upper[i], by_upper, bytes);
        lower[i] = _mm512_dpbusd_epi32(lower[i], by_lower, bytes);
      }
    }
    for (int i = 0; i < kParts; ++i) sums[0][i] = upper[i], sums[1][i] = lower[i];
  }

  void write(const float* value_mean, float* out) const {
    for (int i = 0; i < kParts; ++i) {
      const auto whole = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[0][i]), _mm512_set1_ps(256)),
                                       _mm512_cvtepi32_ps(sums[1][i]));
      const Lanes lanes = bits_as<Lanes>(whole) * worth;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int dimension = dimension_of(i, lane);
        out[dimension] = lanes[lane] + value_mean[dimension];
      }
    }
  }
};

void attend(const ByteAttentionJob& job, float* scratch) {
  Row rows[kMostRows];
  for (std::int64_t r = 0; r < job.rows; ++r) {
    rows[r].query.read(job.q + r * job.stride);
    rows[r].scores = scratch + r * ByteAttentionJob::scratch_size(job.padded);
    rows[r].most = Lanes{} + kNothing;
  }
  for (std::int64_t t = 0; t < job.padded; t += kLanes) {
    const auto* block = job.keys + t * kSize;
    __m512i keys[kGroups];
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g) {
      _mm_prefetch(block + (kAhead + g) * kSize, _MM_HINT_T0);
      keys[g] = _mm512_loadu_si512(block + g * kSize);
    }
    for (std::int64_t r = 0; r < job.rows; ++r) rows[r].score(job, keys, t);
  }
  for (std::int64_t r = 0; r < job.rows; ++r) rows[r].weigh(job);
  // So many positions stay in the fastest cache while every row reads them.
  constexpr std::int64_t kTogether = 4 * kLanes;
  for (std::int64_t t = 0; t < job.padded; t += kTogether) {
    const auto end = std::min(job.padded, t + kTogether);
    rows[0].add_values<true>(job.values, t, end);
    for (std::int64_t r = 1; r < job.rows; ++r) rows[r].add_values<false>(job.values, t, end);
  }
  for (std::int64_t r = 0; r < job.rows; ++r) rows[r].write(job.value_mean, job.out + r * job.stride);
}

}  // namespace

ByteKvKernels byte_kv_kernels_vnni() {
  return {pack_keys, pack_values, attend};
}

}  // namespace tutti
