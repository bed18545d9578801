#pragma once

#include "model/cpu/lanes.h"
#include "model/cpu/matrix/finish_kernel.h"
#include "model/cpu/matrix/kernels.h"
#include "model/cpu/matrix/panels_kernel.h"
#include "model/cpu/matrix/prepare_kernel.h"

namespace tutti {
namespace {

/// A block of a product as it is kept in registers.
///
/// Dot has the types Sums (sixteen), Weights (a group of a panel) and Row (a group of a row), and the functions
/// weights(bytes), row(bits) and add(sums, row, weights), or the same with the row's index. kReadsAhead where it
/// computes so fast that memory has to be read meanwhile.
template <class Dot, int rows, int panels>
struct RegisterBlock {
  const std::byte* a;  // the rows
  std::int64_t row_stride;
  const std::byte* b;  // the panels
  std::int64_t panel_stride;
  std::int64_t ahead;  // bytes to what is multiplied next
  typename Dot::Sums sums[rows][panels] = {};

  template <bool reads_ahead>
  void add_group(std::int64_t group) {
    typename Dot::Weights weights[panels];
#pragma GCC unroll 16
    for (int p = 0; p < panels; ++p) {
      const auto* from = b + p * panel_stride + group * 64;
      if constexpr (reads_ahead) __builtin_prefetch(from + ahead, 0, 2);
      weights[p] = Dot::weights(from);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      std::int32_t bits;
      std::memcpy(&bits, a + r * row_stride + group * 4, sizeof bits);
      const auto x = Dot::row(bits);
#pragma GCC unroll 16
      for (int p = 0; p < panels; ++p) {
        if constexpr (requires { Dot::add(sums[r][p], x, weights[p], r); })
          Dot::add(sums[r][p], x, weights[p], r);
        else
          Dot::add(sums[r][p], x, weights[p]);
      }
    }
  }
};

/// How far a product goes in registers: `rows` times `panels` sums at a time. Every sum runs over the groups in order,
/// so that a row's result depends neither on how many rows there are nor on its index.
template <class Dot, int rows, int panels>
inline void multiply_block(const TileJob& job, std::int64_t row, std::int64_t panel) {
  RegisterBlock<Dot, rows, panels> block{job.rows_data + row * job.row_stride, job.row_stride,
                                         job.panels_data + panel * job.panel_stride, job.panel_stride,
                                         job.panels * job.panel_stride};
  const auto add_groups = [&]<bool reads_ahead>() {
    constexpr int together = 4;  // groups, so that the loop itself costs little beside them
    std::int64_t group = 0;
    for (; job.groups - group >= together; group += together) {
#pragma GCC unroll 4
      for (int i = 0; i < together; ++i) block.template add_group<reads_ahead>(group + i);
    }
    for (; group < job.groups; ++group) block.template add_group<reads_ahead>(group);
  };
  if constexpr (requires { Dot::kReadsAhead; }) {
    row == 0 ? add_groups.template operator()<true>() : add_groups.template operator()<false>();
  } else {
    add_groups.template operator()<false>();
  }
  auto* out = static_cast<float*>(job.sums) + row * job.sum_stride + panel * kPanel;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < panels; ++p) std::memcpy(out + r * job.sum_stride + p * kPanel, &block.sums[r][p], 64);
  }
}

template <class Dot, int panels>
inline void multiply_rows(const TileJob& job, std::int64_t row, std::int64_t panel) {
  constexpr int most = Dot::kRows;
  for (; job.rows - row >= most; row += most) multiply_block<Dot, most, panels>(job, row, panel);
  const auto rest = [&]<int rows>() {
    for (; job.rows - row >= rows; row += rows) multiply_block<Dot, rows, panels>(job, row, panel);
  };
  if constexpr (most > 4) rest.template operator()<4>();
  if constexpr (most > 2) rest.template operator()<2>();
  rest.template operator()<1>();
}

template <class Dot>
inline void multiply_from(std::int64_t row, const TileJob& job) {
  std::int64_t panel = 0;
  for (; job.panels - panel >= Dot::kPanels; panel += Dot::kPanels) multiply_rows<Dot, Dot::kPanels>(job, row, panel);
  for (; panel < job.panels; ++panel) multiply_rows<Dot, 1>(job, row, panel);
}

/// Dot: for whole blocks; Rest: for the rows that are left, which are few and take more panels at a time.
template <class Dot, class Rest = Dot>
void multiply(const TileJob& job) {
  TileJob whole = job;
  if constexpr (!std::is_same_v<Dot, Rest>) whole.rows -= job.rows % Dot::kRows;
  if (whole.rows > 0) multiply_from<Dot>(0, whole);
  if (whole.rows < job.rows) multiply_from<Rest>(whole.rows, job);
}

// Tables of the instruction set whose file includes this one, by the dot of their products.

template <class Dot>
Kernels float32_table() {
  const auto nothing = [] {};
  return {.pack_weights = pack_weights<float>,
          .prepare = prepare_rows<float>,
          .multiply = multiply<Dot>,
          .finish = finish<float, true>,
          .soften = soften_rows<float>,
          .pack_outputs = pack_outputs<float>,
          .pack_inputs = pack_inputs<float>,
          .enter = nothing,
          .leave = nothing};
}

template <class Dot>
Kernels bfloat16_table() {
  const auto nothing = [] {};
  return {.pack_weights = pack_weights<std::uint16_t>,
          .prepare = prepare_rows<std::uint16_t>,
          .multiply = multiply<Dot>,
          .finish = finish<float, false>,
          .soften = soften_rows<std::uint16_t>,
          .pack_outputs = pack_outputs<std::uint16_t>,
          .pack_inputs = pack_inputs<std::uint16_t>,
          .enter = nothing,
          .leave = nothing};
}

/// Dot, Rest: as in multiply().
template <class Dot, class Rest = Dot>
Kernels int8_table() {
  const auto nothing = [] {};
  return {.pack_weights = pack_weights<std::int8_t>,
          .prepare = prepare_rows<std::uint8_t>,
          .multiply = multiply<Dot, Rest>,
          .finish = finish<std::int32_t, false, true>,
          .enter = nothing,
          .leave = nothing};
}

template <class Dot, class Rest = Dot>
Kernels int16_table() {
  const auto nothing = [] {};
  return {.pack_weights = pack_weights<std::int16_t>,
          .prepare = prepare_rows<std::int16_t>,
          .multiply = multiply<Dot, Rest>,
          .finish = finish<std::int32_t, false>,
          .soften = soften_rows<std::int16_t>,
          .pack_outputs = pack_outputs<std::int16_t>,
          .pack_inputs = pack_inputs<std::int16_t>,
          .enter = nothing,
          .leave = nothing};
}

}  // namespace
}  // namespace tutti
