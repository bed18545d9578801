#pragma once

#include "model/cpu/lanes.h"
#include "model/cpu/matrix/kernels.h"

namespace tutti {
namespace {

/// One row, normalised into `out`, which may hold a few floats more than `in`: up to a multiple of sixteen.
inline void normalise(const RowsJob& job, const float* x, float* out) {
  const auto per_value = 1 / static_cast<float>(job.in);
  Lanes total = {};
  Lanes v;
  for (std::int64_t k = 0; k < job.in; k += kLanes) {
    load_some(v, x + k, job.in - k);
    total += v;
  }
  const float mean = sum(total) * per_value;
  Lanes squares = {};
  std::int64_t k = 0;
  for (; k + kLanes <= job.in; k += kLanes) {
    load(v, x + k);
    v -= mean;
    squares += v * v;
  }
  float spread = sum(squares);
  for (; k < job.in; ++k) spread += (x[k] - mean) * (x[k] - mean);
  const float share = 1 / __builtin_sqrtf(spread * per_value + 1e-5f);
  for (k = 0; k < job.in; k += kLanes) {
    const auto left = job.in - k;
    Lanes weight;
    Lanes bias;
    load_some(v, x + k, left);
    load_some(weight, job.norm_weight + k, left);
    load_some(bias, job.norm_bias + k, left);
    write_some(out + k, (v - mean) * share * weight + bias, left);
  }
}

inline void write_row(const float* x, const RowsJob& job, float* out, RowScale&) {
  std::memcpy(out, x, static_cast<std::size_t>(job.in) * sizeof *x);
}

inline void write_row(const float* x, const RowsJob& job, std::uint16_t* out, RowScale&) {
  for (std::int64_t k = 0; k < job.in; k += kLanes) {
    Lanes v;
    load_some(v, x + k, job.in - k);
    write_some(out + k, narrowed_to_bfloat16(v), job.in - k);
  }
}

/// Zero is among the stored values, so that what is 0 stays 0.
inline void write_row(const float* x, const RowsJob& job, std::uint8_t* out, RowScale& scale) {
  Lanes low = {};
  Lanes high = {};
  Lanes v;
  for (std::int64_t k = 0; k < job.in; k += kLanes) {
    load_some(v, x + k, job.in - k);
    low = smaller(v, low);
    high = larger(v, high);
  }
  const float least = -largest(-low);
  const float range = largest(high) - least;
  scale.scale = range > kLeastScale ? range / 255 : 1;
  const float per_scale = 1 / scale.scale;
  const float zero = -least * per_scale + kRounding;
  std::memcpy(&scale.zero, &zero, sizeof zero);
  scale.zero -= kRoundingBits;
  const IntegerLanes lowest = {};
  const IntegerLanes highest = lowest + 255;
  for (std::int64_t k = 0; k < job.in; k += kLanes) {
    using Bytes = std::uint8_t __attribute__((vector_size(16)));
    load_some(v, x + k, job.in - k);
    auto whole = rounded(v * per_scale) + scale.zero;
    whole = where(whole < lowest, lowest, whole);
    whole = where(whole > highest, highest, whole);
    write_some(out + k, narrowed<Bytes>(whole), job.in - k);
  }
}

/// How long a row of stored numbers may be for its product with no output to leave 32 bits: by Cauchy and Schwarz 2^31
/// over the output's length. Sums on the way may leave them; they come back. Rounding adds half to every number.
/// root: of the mean square of an output's stored weights, at most.
inline float longest_row(std::int64_t in, float root) {
  const float root_of_in = __builtin_sqrtf(static_cast<float>(in));
  return 0x1p31f * 0.999f / ((root + 0.5f) * root_of_in) - root_of_in / 2;
}

/// For as many of 16 bits as the row's largest value leaves, and as its length does.
inline float word_scale(const float* x, std::int64_t in, float root) {
  Lanes high = {};
  Lanes squares = {};
  Lanes v;
  for (std::int64_t k = 0; k < in; k += kLanes) {
    load_some(v, x + k, in - k);
    squares += v * v;
    high = larger(absolute(v), high);
  }
  const float by_value = largest(high) * (1.0f / 32766);
  const float by_length = __builtin_sqrtf(sum(squares)) / longest_row(in, root);
  return scale_within(by_value, by_length);
}

/// Sixteen inputs, or the `left` that there are, as whole numbers.
template <class Words>
inline Words words_of(const float* x, std::int64_t left, float per_scale) {
  Lanes v;
  load_some(v, x, left);
  return rounded_halves<Words>(v * per_scale);
}

inline void write_row(const float* x, const RowsJob& job, std::int16_t* out, RowScale& scale) {
  scale = {.scale = word_scale(x, job.in, kWordRoot)};
  for (std::int64_t k = 0; k < job.in; k += kLanes) {
    using Words = std::int16_t __attribute__((vector_size(32)));
    write_some(out + k, words_of<Words>(x + k, job.in - k, 1 / scale.scale), job.in - k);
  }
}

/// What is left of a row when its stored form is taken away.
inline void subtract_stored(const float* x, std::int64_t in, const std::uint8_t* stored, const RowScale& scale,
                            float* left) {
  for (std::int64_t k = 0; k < in; ++k) left[k] = x[k] - scale.scale * static_cast<float>(stored[k] - scale.zero);
}

/// Element: float, uint16_t for bfloat16, uint8_t for int8, int16_t for int16.
template <class Element>
void prepare_rows(const RowsJob& job) {
  const auto used = job.in * static_cast<std::int64_t>(sizeof(Element));
  RowScale unused;
  for (std::int64_t row = 0; row < job.rows; ++row) {
    const float* x = job.x + row * job.stride;
    if (job.norm_weight) {
      normalise(job, x, job.scratch);
      x = job.scratch;
    }
    for (auto part = row * job.parts; part < (row + 1) * job.parts; ++part) {
      auto* out = reinterpret_cast<Element*>(job.out + part * job.out_stride);
      auto& scale = job.scales ? job.scales[part] : unused;
      write_row(x, job, out, scale);
      std::memset(reinterpret_cast<std::byte*>(out) + used, 0, static_cast<std::size_t>(job.groups * 4 - used));
      if constexpr (sizeof(Element) == 1) {
        if (part + 1 < (row + 1) * job.parts) subtract_stored(x, job.in, out, scale, job.scratch);
        x = job.scratch;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
