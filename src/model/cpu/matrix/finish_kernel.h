#pragma once

#include <type_traits>

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
  write_lanes(to, narrowed_to_bfloat16(weights));
}

inline void load(Lanes& lanes, const std::int32_t* from) {
  lanes = as_floats(read_lanes<IntegerLanes>(from));
}

/// Sixteen scores; those from `visible` on are so low that nothing is left of their weight.
template <class Score>
inline Lanes seen(const Score* scores, std::int64_t visible) {
  constexpr std::int32_t numbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Lanes v;
  load(v, scores);
  if (visible >= kLanes) return v;
  const Lanes nothing = Lanes{} - 3e38f;
  return where(read_lanes<IntegerLanes>(numbers) < static_cast<std::int32_t>(visible), v, nothing);
}

/// What of a row's scores the softmax needs.
template <class Score>
struct ScoreRow {
  const Score* scores;
  std::int64_t visible;
  float scale;

  float most() const {
    Lanes highest = Lanes{} - 3e38f;
    for (std::int64_t t = 0; t < visible; t += kLanes) {
      const Lanes v = seen(scores + t, visible - t);
      highest = where(v > highest, v, highest);
    }
    return largest(highest) * scale;
  }

  /// Hands on the weights, sixteen by sixteen; returns their sum.
  template <bool exact, class Keep>
  float weigh(Keep keep) const {
    const float highest = most();
    Lanes total = {};
    for (std::int64_t t = 0; t < visible; t += kLanes) {
      const Lanes below = seen(scores + t, visible - t) * scale - highest;
      const Lanes weight = exact ? exponential(below) : rough_exponential(below);
      total += weight;
      keep(t, weight);
    }
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
    write_lanes(weights + t, narrowed<Words>(rounded(weight * (1 / unit))));
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
