#pragma once

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

/// One row into its lane of a panel. Element: float, or uint16_t for bfloat16.
template <class Element, class Source>
inline void pack_output(const Source* row, std::int64_t width, std::byte* lane) {
  constexpr auto per_group = 4 / static_cast<std::int64_t>(sizeof(Element));
  for (std::int64_t k = 0; k < width; k += kLanes) {
    const auto words = sizeof(Element) == 4 ? bits_as<WordLanes>(some_of(row + k, width - k))
                                            : to_bfloat16(some_of(row + k, width - k));
    for (std::int64_t i = 0; i < kLanes && k + i < width; i += per_group) {
      const std::uint32_t group = per_group == 1 ? words[i] : words[i] | words[i + 1] << 16;
      std::memcpy(lane + (k + i) / per_group * kPanel * 4, &group, sizeof group);
    }
  }
}

template <class Element, class Source>
inline void pack_rows_as_outputs(const PanelsJob& job, const Source* rows) {
  const auto panel_bytes = job.groups * kPanel * 4;
  for (std::int64_t row = 0; row < job.count; ++row) {
    auto* panel = job.panels + row / kPanel * panel_bytes;
    if (row % kPanel == 0) std::memset(panel, 0, static_cast<std::size_t>(panel_bytes));
    pack_output<Element>(rows + row * job.stride, job.width, panel + row % kPanel * 4);
  }
}

template <class Element>
void pack_outputs(const PanelsJob& job) {
  job.bfloat16 ? pack_rows_as_outputs<Element>(job, static_cast<const std::uint16_t*>(job.rows))
               : pack_rows_as_outputs<Element>(job, static_cast<const float*>(job.rows));
}

template <class Element, class Source>
inline void pack_rows_as_inputs(const PanelsJob& job, const Source* rows) {
  constexpr auto per_group = 4 / static_cast<std::int64_t>(sizeof(Element));
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
        words = to_bfloat16(element(2 * group)) | to_bfloat16(element(2 * group + 1)) << 16;
      std::memcpy(panel + group * kPanel * 4, &words, sizeof words);
    }
  }
}

template <class Element>
void pack_inputs(const PanelsJob& job) {
  job.bfloat16 ? pack_rows_as_inputs<Element>(job, static_cast<const std::uint16_t*>(job.rows))
               : pack_rows_as_inputs<Element>(job, static_cast<const float*>(job.rows));
}

}  // namespace
}  // namespace tutti
