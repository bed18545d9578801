#pragma once

#include "model/cpu/lanes_math.h"
#include "model/cpu/matrix/kernels.h"

namespace tutti {
namespace {

inline Lanes scaled(const float* sums, const TileFinishJob&, std::int64_t, std::int64_t) {
  Lanes y;
  load(y, sums);
  return y;
}

inline Lanes scaled(const std::int32_t* sums, const TileFinishJob& job, std::int64_t row, std::int64_t column) {
  auto whole = read_lanes<IntegerLanes>(sums);
  const auto weights = read_lanes<IntegerLanes>(job.column_sums + column);
  Lanes scale;
  load(scale, job.column_scales + column);
  whole -= weights * job.row_scales[row].zero;
  return as_floats(whole) * (scale * job.row_scales[row].scale);
}

/// Gelu: what is done to a value, rough or exact, or nothing.
template <class Sum, class Gelu>
void finish_rows(const TileFinishJob& job, Gelu activation) {
  for (std::int64_t row = 0; row < job.rows; ++row) {
    const auto first = row * job.parts;
    const auto* sums = static_cast<const Sum*>(job.sums) + first * job.sum_stride;
    for (std::int64_t column = 0; column < job.columns; column += kLanes) {
      const auto left = job.columns - column;
      Lanes y = scaled(sums + column, job, first, column);
      if (job.parts == 2) y += scaled(sums + job.sum_stride + column, job, first + 1, column);
      Lanes more;
      if (job.bias) {
        load(more, job.bias + column);
        y += more;
      }
      y = activation(y);
      if (job.addend) {
        load_some(more, job.addend + row * job.addend_stride + column, left);
        y += more;
      }
      write_some(job.y + row * job.y_stride + column, y, left);
    }
  }
}

/// Sum: float, or int32_t for int8.
template <class Sum, bool exact>
void finish(const TileFinishJob& job) {
  if (!job.gelu) {
    finish_rows<Sum>(job, [](const Lanes& y) { return y; });
  } else {
    finish_rows<Sum>(job, [](const Lanes& y) { return exact ? gelu(y) : rough_gelu(y); });
  }
}

inline void write_weights(float* to, const Lanes& weights) {
  store(to, weights);
}

inline void write_weights(std::uint16_t* to, const Lanes& weights) {
  using Halves = std::uint16_t __attribute__((vector_size(32)));
  write_lanes(to, narrowed<Halves>(to_bfloat16(weights)));
}

/// Sixteen scores; those from `visible` on are so low that nothing is left of their weight.
inline Lanes seen(const float* scores, std::int64_t visible) {
  constexpr std::int32_t numbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Lanes v;
  load(v, scores);
  if (visible >= kLanes) return v;
  const Lanes nothing = Lanes{} - 3e38f;
  return where(read_lanes<IntegerLanes>(numbers) < static_cast<std::int32_t>(visible), v, nothing);
}

/// Element: float, or uint16_t for bfloat16.
template <class Element>
void soften_rows(const SoftmaxJob& job) {
  for (std::int64_t row = 0; row < job.rows; ++row) {
    const float* scores = job.scores + row * job.stride;
    auto* weights = reinterpret_cast<Element*>(job.weights + row * job.weights_stride);
    const auto visible = job.visible + row * job.visible_step;
    Lanes highest = Lanes{} - 3e38f;
    for (std::int64_t t = 0; t < visible; t += kLanes) {
      const Lanes v = seen(scores + t, visible - t);
      highest = where(v > highest, v, highest);
    }
    const float most = largest(highest) * job.scale;
    Lanes total = {};
    std::int64_t t = 0;
    for (; t < visible; t += kLanes) {
      const Lanes below = seen(scores + t, visible - t) * job.scale - most;
      const Lanes weight = sizeof(Element) == 4 ? exponential(below) : rough_exponential(below);
      total += weight;
      write_weights(weights + t, weight);
    }
    for (; t < job.columns; t += kLanes) write_weights(weights + t, Lanes{});
    job.totals[row] = sum(total);
  }
}

}  // namespace
}  // namespace tutti
