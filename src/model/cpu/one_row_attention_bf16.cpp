#include <immintrin.h>

#include "model/cpu/lanes_math.h"
#include "model/cpu/one_row_attention_job.h"

// Attention of one row over bfloat16 by products of pairs: a third of the instructions that widening to float32 takes,
// so that reading the keys and values is what is waited for.
namespace tutti {
namespace {

using Job = OneRowAttention<std::uint16_t>;
constexpr std::int64_t kPairLanes = 32;  // bfloat16 of a register

// Positions that are prefetched ahead of their use. The processor by itself looks no further than the end of a small
// page, and the memory of a server is far away.
constexpr std::int64_t kAhead = 64;

/// A position ahead: two cache lines.
void prefetch(const std::uint16_t* position) {
  const auto* ahead = position + kAhead * Job::kHeadSize;
  _mm_prefetch(ahead, _MM_HINT_T0);
  _mm_prefetch(ahead + kPairLanes, _MM_HINT_T0);
}

__m512bh pairs_at(const std::uint16_t* from) {
  return bits_as<__m512bh>(_mm512_loadu_si512(from));
}

/// The query as the sum of two bfloat16, so that rounding it costs nothing.
struct Query {
  __m512bh coarse[2];
  __m512bh rest[2];

  explicit Query(const float* q) {
    for (int half = 0; half < 2; ++half) {
      Lanes numbers[2];
      Lanes left[2];
      for (int i = 0; i < 2; ++i) {
        load(numbers[i], q + half * kPairLanes + i * kLanes);
        left[i] = numbers[i] - bits_as<Lanes>(to_bfloat16(numbers[i]) << 16);
      }
      coarse[half] = _mm512_cvtne2ps_pbh(bits_as<__m512>(numbers[1]), bits_as<__m512>(numbers[0]));
      rest[half] = _mm512_cvtne2ps_pbh(bits_as<__m512>(left[1]), bits_as<__m512>(left[0]));
    }
  }

  __m512 products(const std::uint16_t* key) const {
    const auto first = pairs_at(key), second = pairs_at(key + kPairLanes);
    const auto a = _mm512_dpbf16_ps(_mm512_dpbf16_ps(_mm512_setzero_ps(), coarse[0], first), rest[0], first);
    return _mm512_dpbf16_ps(_mm512_dpbf16_ps(a, coarse[1], second), rest[1], second);
  }
};

/// Lane i: the sum of rows[i].
__m512 sums_of_sixteen(__m512 (&rows)[16]) {
  __m512 pairs[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const auto a = rows[2 * i], b = rows[2 * i + 1];
    pairs[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  }
  __m512 fours[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto a = _mm512_castps_pd(pairs[2 * i]), b = _mm512_castps_pd(pairs[2 * i + 1]);
    fours[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  const auto fold = [](__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  };
  return fold(fold(fours[0], fours[1]), fold(fours[2], fours[3]));
}

constexpr float kNothing = -3e38f;

/// scores[t] = scale * q . keys[t]; returns the largest. The last few of `scores` are filled up with nothing.
float score(const Job& job, float* scores) {
  const Query query(job.q);
  Lanes most = Lanes{} + kNothing;
  std::int64_t t = 0;
  for (; t + kLanes <= job.length; t += kLanes) {
    __m512 products[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      const auto* key = job.keys + (t + i) * Job::kHeadSize;
      prefetch(key);
      products[i] = query.products(key);
    }
    const Lanes here = bits_as<Lanes>(sums_of_sixteen(products)) * job.scale;
    store(scores + t, here);
    most = here > most ? here : most;
  }
  float found = largest(most);
  for (; t < job.length; ++t) {
    const auto products = bits_as<Lanes>(query.products(job.keys + t * Job::kHeadSize));
    scores[t] = job.scale * sum(products);
    found = scores[t] > found ? scores[t] : found;
  }
  for (; t < Job::scratch_size(job.length); ++t) scores[t] = kNothing;
  return found;
}

/// weights[t] = e^(scores[t] - largest) as bfloat16, in the memory of the scores; returns their sum.
float soften(std::int64_t length, float largest, float* scores) {
  auto* weights = reinterpret_cast<std::uint16_t*>(scores);
  Lanes total = {};
  for (std::int64_t t = 0; t < length; t += kLanes) {
    Lanes lanes;
    load(lanes, scores + t);
    const auto words = to_bfloat16(exponential(lanes - largest));
    total += bits_as<Lanes>(words << 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(weights + t), _mm512_cvtepi32_epi16(bits_as<__m512i>(words)));
  }
  return sum(total);
}

/// The weighted values' sums: of 32 values the first and the second four of every eight apart, as unpacking leaves
/// them.
struct Sums {
  __m512 low = _mm512_setzero_ps();
  __m512 high = _mm512_setzero_ps();

  void add(__m512bh weights, __m512i first, __m512i second) {
    low = _mm512_dpbf16_ps(low, weights, bits_as<__m512bh>(_mm512_unpacklo_epi16(first, second)));
    high = _mm512_dpbf16_ps(high, weights, bits_as<__m512bh>(_mm512_unpackhi_epi16(first, second)));
  }

  void write(float* out, float share) const {
    float lanes[2][kLanes];
    _mm512_storeu_ps(lanes[0], _mm512_mul_ps(low, _mm512_set1_ps(share)));
    _mm512_storeu_ps(lanes[1], _mm512_mul_ps(high, _mm512_set1_ps(share)));
    for (int i = 0; i < kPairLanes; ++i) out[i] = lanes[i / 4 % 2][i / 8 * 4 + i % 4];
  }
};

}  // namespace

void attend_bf16(const Job& job, float* scratch) {
  const float total = soften(job.length, score(job, scratch), scratch);
  const auto* weights = reinterpret_cast<const std::uint16_t*>(scratch);
  Sums sums[2];
  std::int64_t t = 0;
  const auto row = [&](std::int64_t position, int half) {
    return _mm512_loadu_si512(job.values + position * Job::kHeadSize + half * kPairLanes);
  };
  for (; t + 1 < job.length; t += 2) {
    std::int32_t pair;
    std::memcpy(&pair, weights + t, sizeof pair);
    const auto both = bits_as<__m512bh>(_mm512_set1_epi32(pair));
    prefetch(job.values + t * Job::kHeadSize);
    prefetch(job.values + (t + 1) * Job::kHeadSize);
    for (int half = 0; half < 2; ++half) sums[half].add(both, row(t, half), row(t + 1, half));
  }
  if (t < job.length) {
    std::uint16_t weight;
    std::memcpy(&weight, weights + t, sizeof weight);
    const auto last = bits_as<__m512bh>(_mm512_set1_epi32(weight));
    for (int half = 0; half < 2; ++half) sums[half].add(last, row(t, half), _mm512_setzero_si512());
  }
  for (int half = 0; half < 2; ++half) sums[half].write(job.out + half * kPairLanes, 1 / total);
}

}  // namespace tutti
