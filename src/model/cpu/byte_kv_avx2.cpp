#include <immintrin.h>

#include <algorithm>

#include "model/cpu/byte_kv_kernel.h"

namespace tutti {
namespace {

/// Position t less the mean as 64 whole numbers from -127 to 127, and what one of them is worth. Behind the last:
/// zeros.
void write_bytes(const ByteKvJob& job, std::int64_t t, std::int8_t* bytes) {
  if (t >= job.positions) {
    job.scales[t] = 0;
    std::fill_n(bytes, kSize, std::int8_t{0});
    return;
  }
  Position here, mean;
  load_position(here, job.from + t * job.stride);
  load_position(mean, job.mean);
  for (int i = 0; i < kParts; ++i) here[i] -= mean[i];
  const float scale = largest_size(here) / 127;
  job.scales[t] = scale;
  for (int i = 0; i < kParts; ++i) {
    using Bytes = std::int8_t __attribute__((vector_size(16)));
    write_lanes(bytes + i * kLanes, narrowed<Bytes>(rounded(here[i] * (1 / scale))));
  }
}

void pack_keys(const ByteKvJob& job, std::uint8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; ++t) {
    std::int8_t bytes[kSize];
    write_bytes(job, t, bytes);
    for (std::int64_t i = 0; i < kSize; ++i) to[t * kSize + i] = static_cast<std::uint8_t>(bytes[i] + 128);
  }
}

void pack_values(const ByteKvJob& job, std::int8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; t += 4, to += 4 * kSize) {
    std::int8_t rows[4][kSize];
    for (int p = 0; p < 4; ++p) write_bytes(job, t + p, rows[p]);
    for (int k = 0; k < kParts; ++k) {
      const auto row = [&](int p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[p]) + k); };
      const auto first_low = _mm_unpacklo_epi8(row(0), row(1)), first_high = _mm_unpackhi_epi8(row(0), row(1));
      const auto last_low = _mm_unpacklo_epi8(row(2), row(3)), last_high = _mm_unpackhi_epi8(row(2), row(3));
      auto* out = reinterpret_cast<__m128i*>(to) + k;
      _mm_storeu_si128(out, _mm_unpacklo_epi16(first_low, last_low));
      _mm_storeu_si128(out + 4, _mm_unpackhi_epi16(first_low, last_low));
      _mm_storeu_si128(out + 8, _mm_unpacklo_epi16(first_high, last_high));
      _mm_storeu_si128(out + 12, _mm_unpackhi_epi16(first_high, last_high));
    }
  }
}

/// Lane i: the sum of rows[i].
__m256i sums_of_eight(const __m256i (&rows)[8]) {
  __m256i pairs[4];
  for (int i = 0; i < 4; ++i) {
    const auto a = rows[2 * i], b = rows[2 * i + 1];
    pairs[i] = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
  }
  __m256i fours[2];
  for (int i = 0; i < 2; ++i) {
    const auto a = pairs[2 * i], b = pairs[2 * i + 1];
    fours[i] = _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
  }
  return _mm256_add_epi32(_mm256_permute2x128_si256(fours[0], fours[1], 0x20),
                          _mm256_permute2x128_si256(fours[0], fours[1], 0x31));
}

/// A query as whole numbers of fifteen bits: 64 of their products with bytes stay far within 32.
struct Query {
  __m256i words[kParts];
  std::int32_t offset = 0;  // what the 128 that is added to every key adds to a product
  float scale = 0;

  explicit Query(const float* q) {
    Position numbers;
    load_position(numbers, q);
    scale = largest_size(numbers) / 16383;
    for (int i = 0; i < kParts; ++i) {
      using Words = std::int16_t __attribute__((vector_size(32)));
      const auto sixteen = narrowed<Words>(rounded(numbers[i] * (1 / scale)));
      std::memcpy(&words[i], &sixteen, sizeof sixteen);
      for (int lane = 0; lane < kLanes; ++lane) offset += 128 * sixteen[lane];
    }
  }

  __m256i products(const std::uint8_t* key) const {
    const auto part = [&](int i) {
      const auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key) + i);
      return _mm256_madd_epi16(_mm256_cvtepu8_epi16(bytes), words[i]);
    };
    return _mm256_add_epi32(_mm256_add_epi32(part(0), part(1)), _mm256_add_epi32(part(2), part(3)));
  }
};

/// Eight keys' products with the query.
__m256i score_eight(const Query& query, const std::uint8_t* keys) {
  __m256i products[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    _mm_prefetch(keys + (i + kAhead) * kSize, _MM_HINT_T0);
    products[i] = query.products(keys + i * kSize);
  }
  return _mm256_sub_epi32(sums_of_eight(products), _mm256_set1_epi32(query.offset));
}

/// scores[t] = q . keys[t] / 8, and nothing behind the last position; returns the largest.
float score(const ByteAttentionJob& job, float* scores) {
  const Query query(job.q);
  const float scale = query.scale / 8;
  Lanes most = Lanes{} + kNothing;
  for (std::int64_t t = 0; t < job.padded; t += kLanes) {
    const __m256i halves[2] = {score_eight(query, job.keys + t * kSize),
                               score_eight(query, job.keys + (t + 8) * kSize)};
    Lanes scales;
    load(scales, job.key_scales + t);
    store(scores + t, as_floats(read_lanes<IntegerLanes>(halves)) * scales * scale);
    for (auto i = std::max(t, job.positions); i < t + kLanes; ++i) scores[i] = kNothing;
    Lanes here;
    load(here, scores + t);
    most = larger(here, most);
  }
  return largest(most);
}

/// What each position's value counts, as whole numbers of up to fifteen bits: of four positions first and third, then
/// second and fourth.
struct Weights {
  const std::int16_t* words;
  float worth = 0;  // of 1, the softmax's sum taken into account
};

Weights weigh(const ByteAttentionJob& job, float largest_score, float* scores) {
  const Softened soft = soften(job, largest_score, scores);
  // The sum of all times 127, the largest value, has to stay within 32 bits; rounding adds up to half to each.
  const float most_together = 0x1p31f * 0.999f / 127 - static_cast<float>(job.padded) / 2;
  const float unit = std::max({soft.largest / 32766, soft.sum / most_together, kLeastScale});
  auto* words = reinterpret_cast<std::int16_t*>(scores + job.padded);
  for (std::int64_t t = 0; t < job.padded; t += kLanes) {
    Lanes lanes;
    load(lanes, scores + t);
    std::int32_t whole[kLanes];
    write_lanes(whole, rounded(lanes * (1 / unit)));
    for (int i = 0; i < kLanes; ++i) words[t + i] = static_cast<std::int16_t>(whole[i / 4 * 4 + i % 2 * 2 + i % 4 / 2]);
  }
  return {words, unit / soft.total};
}

__m256i two_of(const std::int16_t* words) {
  std::int32_t both;
  std::memcpy(&both, words, sizeof both);
  return _mm256_set1_epi32(both);
}

void attend(const ByteAttentionJob& job, float* scratch) {
  const auto weights = weigh(job, score(job, scratch), scratch);
  __m256i sums[2 * kParts] = {};
  const auto* values = job.values;
  for (std::int64_t t = 0; t < job.padded; t += 4, values += 4 * kSize) {
    const auto even = two_of(weights.words + t), odd = two_of(weights.words + t + 2);
#pragma GCC unroll 8
    for (int i = 0; i < 2 * kParts; ++i) {
      if (i % 2 == 0) _mm_prefetch(values + kAhead * kSize + i * 32, _MM_HINT_T0);
      const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values) + i);
      const auto first = _mm256_madd_epi16(_mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8), even);
      const auto second = _mm256_madd_epi16(_mm256_srai_epi16(bytes, 8), odd);
      sums[i] = _mm256_add_epi32(sums[i], _mm256_add_epi32(first, second));
    }
  }
  for (int i = 0; i < kParts; ++i) {
    std::int32_t lanes[kLanes];
    std::memcpy(lanes, sums + 2 * i, sizeof lanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int dimension = dimension_of(i, lane);
      job.out[dimension] = static_cast<float>(lanes[lane]) * weights.worth + job.value_mean[dimension];
    }
  }
}

}  // namespace

ByteKvKernels byte_kv_kernels_avx2() {
  return {pack_keys, pack_values, attend};
}

}  // namespace tutti
