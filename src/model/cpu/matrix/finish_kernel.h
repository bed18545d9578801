#pragma once

#include <type_traits>

#include "model/cpu/lanes_math.h"
#include "model/cpu/matrix/kernels.h"

namespace tutti {
namespace {

/// Sixteen sums by their scales. zeros: whether the row's zero may be another than 0. Their products leave the sums as
/// whole numbers: as floats the difference of two large ones would lose bits.
template <bool zeros>
inline Lanes scaled(const float* sums, const TileFinishJob&, const RowScale&, std::int64_t column) {
  return read_lanes<Lanes>(sums + column);
}

template <bool zeros>
inline Lanes scaled(const std::int32_t* sums, const TileFinishJob& job, const RowScale& row, std::int64_t column) {
  auto whole = read_lanes<IntegerLanes>(sums + column);
  if constexpr (zeros) whole -= read_lanes<IntegerLanes>(job.column_sums + column) * row.zero;
  return as_floats(whole) * (read_lanes<Lanes>(job.column_scales + column) * row.scale);
}

/// Gelu: what is done to a value, rough or exact, or nothing. The job is a copy: what is written may be no part of it.
template <class Sum, int parts, bool zeros, class Gelu>
void finish_rows(const TileFinishJob job, Gelu activation) {
  for (std::int64_t row = 0; row < job.rows; ++row) {
    const auto* sums = static_cast<const Sum*>(job.sums) + row * parts * job.sum_stride;
    RowScale scales[parts];
    if (job.row_scales) std::memcpy(scales, job.row_scales + row * parts, sizeof scales);
    const float* addend = job.addend ? job.addend + row * job.addend_stride : nullptr;
    float* y = job.y + row * job.y_stride;
    const auto finished = [&](std::int64_t column) {
      Lanes lanes = scaled<zeros>(sums, job, scales[0], column);
      if constexpr (parts == 2) lanes += scaled<zeros>(sums + job.sum_stride, job, scales[1], column);
      if (job.bias) lanes += read_lanes<Lanes>(job.bias + column);
      return activation(lanes);
    };
    std::int64_t column = 0;
    for (; column + kLanes <= job.columns; column += kLanes) {
      Lanes lanes = finished(column);
      if (addend) lanes += read_lanes<Lanes>(addend + column);
      store(y + column, lanes);
    }
    const auto left = job.columns - column;
    if (left == 0) continue;
    Lanes lanes = finished(column), more = {};
    if (addend) load_some(more, addend + column, left);
    lanes += more;
    write_some(y + column, lanes, left);
  }
}

template <class Sum, bool zeros, class Gelu>
void finish_parts(const TileFinishJob& job, Gelu activation) {
  if constexpr (zeros) {
    if (job.parts == 2) return finish_rows<Sum, 2, zeros>(job, activation);
  }
  finish_rows<Sum, 1, zeros>(job, activation);
}

/// Sum: float, or int32_t for int8 and int16. zeros: of int8.
template <class Sum, bool exact, bool zeros = false>
void finish(const TileFinishJob& job) {
  if (!job.gelu) {
    finish_parts<Sum, zeros>(job, [](const Lanes& y) { return y; });
  } else {
    finish_parts<Sum, zeros>(job, [](const Lanes& y) { return exact ? gelu(y) : rough_gelu(y); });
  }
}

inline void write_weights(float* to, const Lanes& weights) {
  store(to, weights);
}

inline void write_weights(std::uint16_t* to, const Lanes& weights) {
  write_lanes(to, narrowed_to_bfloat16(weights));
}

/// The last scores of a row, up to sixteen; those from `visible` on are so low that nothing is left of their weight.
template <class Score>
inline Lanes last_scores(const Score* scores, std::int64_t visible) {
  constexpr std::int32_t numbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Lanes v;
  load(v, scores);
  const Lanes nothing = Lanes{} - 3e38f;
  return where(read_lanes<IntegerLanes>(numbers) < static_cast<std::int32_t>(visible), v, nothing);
}

/// The largest of `count` scores, a multiple of sixteen, lane by lane.
inline Lanes maxima(const float* scores, std::int64_t count) {
  Lanes highest = Lanes{} - 3e38f;
  for (std::int64_t t = 0; t < count; t += kLanes) highest = larger(read_lanes<Lanes>(scores + t), highest);
  return highest;
}

inline Lanes maxima(const std::int32_t* scores, std::int64_t count) {
  if (count == 0) return Lanes{} - 3e38f;
  auto highest = read_lanes<IntegerLanes>(scores);
  for (std::int64_t t = kLanes; t < count; t += kLanes) highest = larger(read_lanes<IntegerLanes>(scores + t), highest);
  return as_floats(highest);
}

/// What of a row's scores the softmax needs.
template <class Score>
struct ScoreRow {
  const Score* scores;
  std::int64_t visible;
  float scale;
  std::int64_t whole = visible / kLanes * kLanes;

  float largest_score() const {
    Lanes highest = maxima(scores, whole);
    if (whole < visible) highest = larger(last_scores(scores + whole, visible - whole), highest);
    return largest(highest);
  }

  /// Hands on the weights, sixteen by sixteen; returns their sum. Rough ones are powers of two: their logarithms take
  /// one product.
  template <bool exact, class Keep>
  float weigh(Keep keep) const {
    const float unit = exact ? scale : scale * kLogOfE;
    const float highest = largest_score() * unit;
    Lanes total = {};
    const auto keep_weights = [&](std::int64_t t, const Lanes& v) {
      const Lanes below = v * unit - highest;
      const Lanes weight = exact ? exponential(below) : rough_power_of_two(below);
      total += weight;
      keep(t, weight);
    };
    for (std::int64_t t = 0; t < whole; t += kLanes) {
      Lanes v;
      load(v, scores + t);
      keep_weights(t, v);
    }
    if (whole < visible) keep_weights(whole, last_scores(scores + whole, visible - whole));
    return sum(total);
  }
};

/// The row's weights as they are in float32 and bfloat16, 0 from `visible` on; returns their sum.
template <class Element>
inline float soften_row(float* scores, std::int64_t visible, const SoftmaxJob& job, const RowScale&, Element* weights) {
  const ScoreRow<float> row{scores, visible, job.scale};
  return row.weigh<sizeof(Element) == 4>([&](std::int64_t t, const Lanes& w) { write_weights(weights + t, w); });
}

/// What the largest weight is stored as at most. Not 32767: the largest score, scaled and rounded once, is taken from
/// itself scaled and not rounded where both are one instruction, so that e^0 may come out larger than 1: by 0.002 for
/// scores of sixty thousand, when a 16-bit weight of 1.00004 would already be negative.
constexpr float kMostWeight = 32700;

/// As whole numbers of as many of fifteen bits as leave their sum, times the largest value, within 32 (rounding adds up
/// to half to each): few where the weights are many, which takes nothing from the result, since their errors are as
/// many.
inline float soften_row(std::int32_t* scores, std::int64_t visible, const SoftmaxJob& job, const RowScale& of_row,
                        std::int16_t* weights) {
  using Words = std::int16_t __attribute__((vector_size(32)));
  auto* floats = reinterpret_cast<float*>(scores);
  const ScoreRow<std::int32_t> row{scores, visible, job.scale * of_row.scale};
  const float total = row.weigh<false>([&](std::int64_t t, const Lanes& w) { store(floats + t, w); });
  const float most_together = 0x1p31f * 0.999f / kMostWord - static_cast<float>(job.columns) / 2;
  const float by_total = total / most_together;
  const float unit = by_total > 1 / kMostWeight ? by_total : 1 / kMostWeight;
  for (std::int64_t t = 0; t < visible; t += kLanes) {
    Lanes weight;
    load(weight, floats + t);
    write_lanes(weights + t, rounded_halves<Words>(weight * (1 / unit)));
  }
  return total / unit;
}

/// Element: float, uint16_t for bfloat16, or int16_t for int16.
template <class Element>
void soften_rows(const SoftmaxJob& job) {
  using Score = std::conditional_t<std::is_same_v<Element, std::int16_t>, std::int32_t, float>;
  for (std::int64_t row = 0; row < job.rows; ++row) {
    auto* scores = static_cast<Score*>(job.scores) + row * job.stride;
    auto* weights = reinterpret_cast<Element*>(job.weights + row * job.weights_stride);
    const auto visible = job.visible + row * job.visible_step;
    const auto& of_row = job.row_scales ? job.row_scales[row] : RowScale{};
    job.totals[row] = soften_row(scores, visible, job, of_row, weights);
    const auto written = (visible + kLanes - 1) / kLanes * kLanes;
    std::memset(weights + written, 0, static_cast<std::size_t>(job.columns - written) * sizeof(Element));
  }
}

}  // namespace
}  // namespace tutti
