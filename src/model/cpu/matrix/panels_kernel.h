#pragma once

#include <type_traits>

#include "model/cpu/lanes.h"
#include "model/cpu/matrix/kernels.h"

namespace tutti {
namespace {

/// Sixteen elements, or the `count` that there are.
template <class Source>
inline Lanes some_of(const Source* from, std::int64_t count) {
  Source whole[kLanes] = {};
  if (count < kLanes) {
    std::memcpy(whole, from, static_cast<std::size_t>(count) * sizeof *from);
    from = whole;
  }
  Lanes lanes;
  load(lanes, from);
  return lanes;
}

// Element of what follows: float, uint16_t for bfloat16, and int16_t and int8_t, of which a stored 1 is worth 1 /
// per_scale.

/// Sixteen numbers as stored, in the lower half of every word.
template <class Element>
inline WordLanes half_words(const Lanes& numbers, float per_scale) {
  if constexpr (std::is_same_v<Element, std::int16_t>)
    return bits_as<WordLanes>(rounded(numbers * per_scale)) & 0xffffU;
  return to_bfloat16(numbers);
}

/// Sixteen inputs of a row as groups, in the first words.
template <class Element>
inline WordLanes groups_of_row(const Lanes& inputs, float per_scale) {
  if constexpr (sizeof(Element) == 4) return bits_as<WordLanes>(inputs);
  std::uint32_t words[kLanes] = {};
  if constexpr (sizeof(Element) == 1) {
    using Bytes = std::int8_t __attribute__((vector_size(16)));
    const auto bytes = narrowed<Bytes>(rounded(inputs * per_scale));
    std::memcpy(words, &bytes, sizeof bytes);
  } else {
    using Halves = std::uint16_t __attribute__((vector_size(32)));
    const auto halves = narrowed<Halves>(half_words<Element>(inputs, per_scale));
    std::memcpy(words, &halves, sizeof halves);
  }
  return read_lanes<WordLanes>(words);
}

/// Up to sixteen rows into their panel.
template <class Element, class Source>
inline void pack_panel(const PanelsJob& job, const Source* rows, std::int64_t count, float per_scale,
                       std::byte* panel) {
  constexpr auto per_group = 4 / static_cast<std::int64_t>(sizeof(Element));
  constexpr auto groups = kLanes / per_group;
  std::uint32_t words[kPanel][kPanel] = {};  // [group][row]
  for (std::int64_t group = 0; group < job.groups; group += kPanel) {
    for (std::int64_t row = 0; row < kPanel; ++row) {
      for (std::int64_t part = 0; part < per_group; ++part) {
        const auto k = group * per_group + part * kLanes;
        const bool there = row < count && k < job.width;
        const auto inputs = there ? some_of(rows + row * job.stride + k, job.width - k) : Lanes{};
        std::uint32_t of_row[kLanes];
        write_lanes(of_row, groups_of_row<Element>(inputs, per_scale));
        for (std::int64_t i = 0; i < groups; ++i) words[part * groups + i][row] = of_row[i];
      }
    }
    const auto left = job.groups - group;
    std::memcpy(panel + group * kPanel * 4, words,
                static_cast<std::size_t>(left < kPanel ? left : kPanel) * kPanel * 4);
  }
}

/// What a stored 1 of an output's weights is worth. None exceeds the largest number that is stored, nor do those of
/// int16 exceed kWordRoot in the root of their mean square.
template <class Element>
inline float weight_scale_of(const float* weights, std::int64_t in) {
  constexpr float kMostByte = 127;
  Lanes high = {};
  double squares[kLanes] = {};
  for (std::int64_t k = 0; k < in; k += kLanes) {
    const Lanes v = some_of(weights + k, in - k);
    high = larger(absolute(v), high);
    float square[kLanes];
    write_lanes(square, v * v);
    for (std::int64_t i = 0; i < kLanes; ++i) squares[i] += square[i];
  }
  float most = largest(high);
  if constexpr (sizeof(Element) == 2) {
    double all = 0;
    for (const double some : squares) all += some;
    const auto root = static_cast<float>(__builtin_sqrt(all / static_cast<double>(in)));
    const float by_root = root * (kMostWord / kWordRoot);
    most = by_root > most ? by_root : most;
  }
  const float scale = most / (sizeof(Element) == 2 ? kMostWord : kMostByte);
  constexpr float kLeast = 0x1p-126F;  // weights that vanish would leave no scale to divide by
  return scale > kLeast ? scale : kLeast;
}

/// weights /= scale. The sum of what is stored of them.
inline std::int32_t divide_weights(float* weights, std::int64_t in, float scale) {
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < in; k += kLanes) {
    const Lanes divided = some_of(weights + k, in - k) / scale;
    write_some(weights + k, divided, in - k);
    std::int32_t whole[kLanes];
    write_lanes(whole, rounded(divided));
    for (const auto one : whole) sum += one;
  }
  return sum;
}

/// Up to sixteen outputs of a layer into their panel.
template <class Element>
void pack_weights(const WeightsJob& job) {
  if constexpr (std::is_signed_v<Element> && std::is_integral_v<Element>) {
    for (std::int64_t row = 0; row < job.count; ++row) {
      auto* const weights = job.weights + row * job.in;
      job.scales[row] = weight_scale_of<Element>(weights, job.in);
      const auto sum = divide_weights(weights, job.in, job.scales[row]);
      if constexpr (sizeof(Element) == 1) job.sums[row] = sum;
    }
  }
  const PanelsJob panel{.stride = job.in, .width = job.in, .groups = job.groups};
  pack_panel<Element>(panel, static_cast<const float*>(job.weights), job.count, 1, job.panel);
}

/// What a stored 1 of the rows is worth, so that none exceeds kMostWord and, where they are outputs, the root of none's
/// mean square exceeds kWordRoot.
template <class Source>
inline float word_scale_of(const PanelsJob& job, const Source* rows, bool outputs) {
  Lanes high = {};
  float most_squares = 0;
  for (std::int64_t row = 0; row < job.count; ++row) {
    Lanes squares = {};
    for (std::int64_t k = 0; k < job.width; k += kLanes) {
      const Lanes v = some_of(rows + row * job.stride + k, job.width - k);
      squares += v * v;
      high = larger(absolute(v), high);
    }
    const float of_row = outputs ? sum(squares) : 0;
    most_squares = of_row > most_squares ? of_row : most_squares;
  }
  const float by_value = largest(high) / kMostWord;
  const float by_length = __builtin_sqrtf(most_squares / static_cast<float>(job.width)) / kWordRoot;
  return scale_within(by_value, by_length);
}

template <class Element, class Source>
inline float scale_of(const PanelsJob& job, const Source* rows, bool outputs) {
  if constexpr (std::is_same_v<Element, std::int16_t>) return word_scale_of(job, rows, outputs);
  return 1;
}

template <class Element, class Source>
inline float pack_rows_as_outputs(const PanelsJob& job, const Source* rows) {
  const float scale = scale_of<Element>(job, rows, true);
  for (std::int64_t row = 0; row < job.count; row += kPanel) {
    const auto count = job.count - row < kPanel ? job.count - row : kPanel;
    pack_panel<Element>(job, rows + row * job.stride, count, 1 / scale, job.panels + row * job.groups * 4);
  }
  return scale;
}

template <class Element>
float pack_outputs(const PanelsJob& job) {
  return job.bfloat16 ? pack_rows_as_outputs<Element>(job, static_cast<const std::uint16_t*>(job.rows))
                      : pack_rows_as_outputs<Element>(job, static_cast<const float*>(job.rows));
}

template <class Element, class Source>
inline float pack_rows_as_inputs(const PanelsJob& job, const Source* rows) {
  constexpr auto per_group = 4 / static_cast<std::int64_t>(sizeof(Element));
  const float scale = scale_of<Element>(job, rows, false);
  for (std::int64_t column = 0; column < job.width; column += kPanel) {
    auto* panel = job.panels + column / kPanel * job.groups * kPanel * 4;
    for (std::int64_t group = 0; group < job.groups; ++group) {
      const auto element = [&](std::int64_t row) {
        return row < job.count ? some_of(rows + row * job.stride + column, job.width - column) : Lanes{};
      };
      WordLanes words;
      if constexpr (per_group == 1)
        words = bits_as<WordLanes>(element(group));
      else
        words = half_words<Element>(element(2 * group), 1 / scale) |
                half_words<Element>(element(2 * group + 1), 1 / scale) << 16;
      write_lanes(panel + group * kPanel * 4, words);
    }
  }
  return scale;
}

template <class Element>
float pack_inputs(const PanelsJob& job) {
  return job.bfloat16 ? pack_rows_as_inputs<Element>(job, static_cast<const std::uint16_t*>(job.rows))
                      : pack_rows_as_inputs<Element>(job, static_cast<const float*>(job.rows));
}

}  // namespace
}  // namespace tutti
