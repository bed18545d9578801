#pragma once

#include "model/lanes.h"
#include "model/one_row_attention_job.h"

namespace tutti {
namespace {

/// e^x for x <= 0, to a few units in the last place: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (coefficients of
/// Cephes' expf).
inline void exponential(Lanes& x) {
  using Integers = std::int32_t __attribute__((vector_size(64)));
  constexpr float lowest = -87;      // below, the result would not be a normal number
  constexpr float magic = 12582912;  // 1.5 * 2^23: adding it rounds to a whole number
  constexpr std::int32_t magic_bits = 0x4b400000;
  const Lanes floor = Lanes{} + lowest;
  x = x < floor ? floor : x;
  const Lanes shifted = x * 1.44269504088896341f + magic;
  const Lanes n = shifted - magic;
  const Lanes r = x - n * 0.693359375f - n * -2.12194440e-4f;
  Lanes y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  Integers bits;
  Integers power;
  std::memcpy(&bits, &y, sizeof y);
  std::memcpy(&power, &shifted, sizeof shifted);
  bits += (power - magic_bits) << 23;
  std::memcpy(&x, &bits, sizeof x);
}

/// scores[t] = scale * q . keys[t]; returns the largest. The last few of `scores` are filled up with nothing.
template <class T>
inline float score(const OneRowAttention<T>& job, float* scores) {
  constexpr auto blocks = OneRowAttention<T>::kHeadSize / kLanes;
  Lanes q[blocks];
  for (int b = 0; b < blocks; ++b) load(q[b], job.q + b * kLanes);
  float largest = -3e38f;
  for (std::int64_t t = 0; t < job.length; ++t) {
    Lanes total = {};
    for (int b = 0; b < blocks; ++b) {
      Lanes key;
      load(key, job.keys + t * job.kHeadSize + b * kLanes);
      total += q[b] * key;
    }
    scores[t] = job.scale * sum(total);
    largest = scores[t] > largest ? scores[t] : largest;
  }
  for (auto t = job.length; t < job.scratch_size(job.length); ++t) scores[t] = -3e38f;
  return largest;
}

template <class T>
void attend(const OneRowAttention<T>& job, float* scores) {
  constexpr auto blocks = OneRowAttention<T>::kHeadSize / kLanes;
  const float largest = score(job, scores);
  Lanes total = {};
  for (std::int64_t t = 0; t < job.length; t += kLanes) {
    Lanes weights;
    load(weights, scores + t);
    weights -= largest;
    exponential(weights);
    total += weights;
    std::memcpy(scores + t, &weights, sizeof weights);
  }
  Lanes out[blocks] = {};
  for (std::int64_t t = 0; t < job.length; ++t) {
    for (int b = 0; b < blocks; ++b) {
      Lanes value;
      load(value, job.values + t * job.kHeadSize + b * kLanes);
      out[b] += scores[t] * value;
    }
  }
  const float share = 1 / sum(total);
  for (int b = 0; b < blocks; ++b) {
    out[b] *= share;
    std::memcpy(job.out + b * kLanes, &out[b], sizeof out[b]);
  }
}

}  // namespace
}  // namespace tutti
