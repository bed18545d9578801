#include <immintrin.h>

#include <algorithm>

#include "model/cpu/byte_kv_kernel.h"

namespace tutti {
namespace {

/// Position t less the mean as 64 whole numbers from -127 to 127, and what one of them is worth.
__m512i to_bytes(const ByteKvJob& job, std::int64_t t) {
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

/// Lane i: the sum of rows[i].
__m512i sums_of_sixteen(__m512i (&rows)[16]) {
  __m512i pairs[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const auto a = rows[2 * i], b = rows[2 * i + 1];
    pairs[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  }
  __m512i fours[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto a = pairs[2 * i], b = pairs[2 * i + 1];
    fours[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  }
  const auto fold = [](__m512i a, __m512i b) {
    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
  };
  return fold(fold(fours[0], fours[1]), fold(fours[2], fours[3]));
}

/// A query as whole numbers of fifteen bits, each in two bytes: 128 * coarse + fine.
struct Query {
  __m512i coarse{};
  __m512i fine{};
  std::int32_t offset = 0;  // what the 128 that is added to every key adds to a product
  float scale = 0;

  explicit Query(const float* q) {
    Position numbers;
    load_position(numbers, q);
    scale = largest_size(numbers) / (127 * 128);
    alignas(64) std::int8_t high[kSize], low[kSize];
    for (int i = 0; i < kParts; ++i) {
      const auto whole = _mm512_cvtps_epi32(bits_as<__m512>(numbers[i] * (1 / scale)));
      const auto upper = _mm512_srai_epi32(_mm512_add_epi32(whole, _mm512_set1_epi32(64)), 7);
      const auto lower = _mm512_sub_epi32(whole, _mm512_slli_epi32(upper, 7));
      _mm_store_si128(reinterpret_cast<__m128i*>(high) + i, _mm512_cvtepi32_epi8(upper));
      _mm_store_si128(reinterpret_cast<__m128i*>(low) + i, _mm512_cvtepi32_epi8(lower));
      offset += 128 * _mm512_reduce_add_epi32(whole);
    }
    coarse = _mm512_load_si512(high);
    fine = _mm512_load_si512(low);
  }

  __m512i products(const std::uint8_t* key) const {
    const auto bytes = _mm512_loadu_si512(key);
    const auto upper = _mm512_dpbusd_epi32(_mm512_setzero_si512(), bytes, coarse);
    return _mm512_dpbusd_epi32(_mm512_slli_epi32(upper, 7), bytes, fine);
  }
};

/// scores[t] = q . keys[t] / 8, and nothing behind the last position; returns the largest.
float score(const ByteAttentionJob& job, float* scores) {
  const Query query(job.q);
  const float scale = query.scale / 8;
  Lanes most = Lanes{} + kNothing;
  for (std::int64_t t = 0; t < job.padded; t += kLanes) {
    __m512i products[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      const auto* key = job.keys + (t + i) * kSize;
      _mm_prefetch(key + kAhead * kSize, _MM_HINT_T0);
      products[i] = query.products(key);
    }
    const auto whole = _mm512_sub_epi32(sums_of_sixteen(products), _mm512_set1_epi32(query.offset));
    Lanes scales;
    load(scales, job.key_scales + t);
    Lanes here = bits_as<Lanes>(_mm512_cvtepi32_ps(whole)) * scales * scale;
    if (t + kLanes > job.positions) {
      for (auto i = job.positions - t; i < kLanes; ++i) here[i] = kNothing;
    }
    store(scores + t, here);
    most = here > most ? here : most;
  }
  return largest(most);
}

/// What each position's value counts, as whole numbers of sixteen bits in two rows of bytes.
struct Weights {
  std::uint8_t* high;
  std::uint8_t* low;
  float worth = 0;  // of 1, the softmax's sum taken into account
};

Weights weigh(const ByteAttentionJob& job, float largest_score, float* scores) {
  const Softened soft = soften(job, largest_score, scores);
  auto* bytes = reinterpret_cast<std::uint8_t*>(scores + job.padded);
  const float unit = std::max(soft.largest, kLeastScale) / 65535;
  for (std::int64_t t = 0; t < job.padded; t += kLanes) {
    Lanes lanes;
    load(lanes, scores + t);
    const auto whole = _mm512_cvtps_epi32(bits_as<__m512>(lanes * (1 / unit)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + t), _mm512_cvtepi32_epi8(_mm512_srli_epi32(whole, 8)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + job.padded + t), _mm512_cvtepi32_epi8(whole));
  }
  return {bytes, bytes + job.padded, unit / soft.total};
}

__m512i four_of(const std::uint8_t* bytes) {
  std::int32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return _mm512_set1_epi32(word);
}

void pack_keys(const ByteKvJob& job, std::uint8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; ++t) {
    auto bytes = _mm512_setzero_si512();
    if (t < job.positions) {
      bytes = to_bytes(job, t);
    } else {
      job.scales[t] = 0;
    }
    _mm512_storeu_si512(to + t * kSize, _mm512_xor_si512(bytes, _mm512_set1_epi8(-128)));
  }
}

void pack_values(const ByteKvJob& job, std::int8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; t += 4, to += 4 * kSize) {
    __m512i rows[4];
    for (int p = 0; p < 4; ++p) {
      rows[p] = _mm512_setzero_si512();
      if (t + p < job.positions) {
        rows[p] = to_bytes(job, t + p);
      } else {
        job.scales[t + p] = 0;
      }
    }
    const auto first_low = _mm512_unpacklo_epi8(rows[0], rows[1]), first_high = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const auto last_low = _mm512_unpacklo_epi8(rows[2], rows[3]), last_high = _mm512_unpackhi_epi8(rows[2], rows[3]);
    _mm512_storeu_si512(to, _mm512_unpacklo_epi16(first_low, last_low));
    _mm512_storeu_si512(to + kSize, _mm512_unpackhi_epi16(first_low, last_low));
    _mm512_storeu_si512(to + 2 * kSize, _mm512_unpacklo_epi16(first_high, last_high));
    _mm512_storeu_si512(to + 3 * kSize, _mm512_unpackhi_epi16(first_high, last_high));
  }
}

void attend(const ByteAttentionJob& job, float* scratch) {
  const auto weights = weigh(job, score(job, scratch), scratch);
  __m512i high[kParts] = {}, low[kParts] = {};
  const auto* values = job.values;
  for (std::int64_t t = 0; t < job.padded; t += 4, values += 4 * kSize) {
    const auto upper = four_of(weights.high + t), lower = four_of(weights.low + t);
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      _mm_prefetch(values + (kAhead + i) * kSize, _MM_HINT_T0);
      const auto bytes = _mm512_loadu_si512(values + i * kSize);
      high[i] = _mm512_dpbusd_epi32(high[i], upper, bytes);
      low[i] = _mm512_dpbusd_epi32(low[i], lower, bytes);
    }
  }
  for (int i = 0; i < kParts; ++i) {
    const auto sums =
        _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(high[i]), _mm512_set1_ps(256)), _mm512_cvtepi32_ps(low[i]));
    const Lanes lanes = bits_as<Lanes>(sums) * weights.worth;
    for (int lane = 0; lane < kLanes; ++lane) {
      const int dimension = dimension_of(i, lane);
      job.out[dimension] = lanes[lane] + job.value_mean[dimension];
    }
  }
}

}  // namespace

ByteKvKernels byte_kv_kernels_dot512() {
  return {pack_keys, pack_values, attend};
}

}  // namespace tutti
