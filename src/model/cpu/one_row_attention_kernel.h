#pragma once

#include "model/cpu/lanes_math.h"
#include "model/cpu/one_row_attention_job.h"

namespace tutti {
namespace {

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
    weights = exponential(weights);
    total += weights;
    store(scores + t, weights);
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
    store(job.out + b * kLanes, out[b]);
  }
}

}  // namespace
}  // namespace tutti
