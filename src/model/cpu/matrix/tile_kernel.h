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
/// weights(bytes), row(bits) and add(sums, row, weights), or the same with the row's index.
template <class Dot, int rows, int panels>
struct RegisterBlock {
  const std::byte* a;  // the rows
  std::int64_t row_stride;
  const std::byte* b;  // the panels
  std::int64_t panel_stride;
  typename Dot::Sums sums[rows][panels] = {};

  void add_group(std::int64_t group) {
    typename Dot::Weights weights[panels];
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) weights[p] = Dot::weights(b + p * panel_stride + group * 64);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      std::int32_t bits;
      std::memcpy(&bits, a + r * row_stride + group * 4, sizeof bits);
      const auto x = Dot::row(bits);
#pragma GCC unroll 8
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
                                         job.panels_data + panel * job.panel_stride, job.panel_stride};
  constexpr int together = 4;  // groups, so that the loop itself costs little beside them
  std::int64_t group = 0;
  for (; job.groups - group >= together; group += together) {
#pragma GCC unroll 4
    for (int i = 0; i < together; ++i) block.add_group(group + i);
  }
  for (; group < job.groups; ++group) block.add_group(group);
  auto* out = static_cast<float*>(job.sums) + row * job.sum_stride + panel * kPanel;
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) std::memcpy(out + r * job.sum_stride + p * kPanel, &block.sums[r][p], 64);
  }
}

template <class Dot, int panels>
inline void multiply_rows(const TileJob& job, std::int64_t panel) {
  std::int64_t row = 0;
  for (; job.rows - row >= Dot::kRows; row += Dot::kRows) multiply_block<Dot, Dot::kRows, panels>(job, row, panel);
  const auto rest = [&]<int rows>() {
    for (; job.rows - row >= rows; row += rows) multiply_block<Dot, rows, panels>(job, row, panel);
  };
  if constexpr (Dot::kRows > 4) rest.template operator()<4>();
  if constexpr (Dot::kRows > 2) rest.template operator()<2>();
  rest.template operator()<1>();
}

template <class Dot>
void multiply(const TileJob& job) {
  std::int64_t panel = 0;
  for (; job.panels - panel >= Dot::kPanels; panel += Dot::kPanels) multiply_rows<Dot, Dot::kPanels>(job, panel);
  for (; panel < job.panels; ++panel) multiply_rows<Dot, 1>(job, panel);
}

/// The table of one instruction set, whose file includes this one.
template <class Float32, class Bfloat16, class Int8, class Int16>
Kernels table_of(WeightPrecision precision) {
  const auto nothing = [] {};
  switch (precision) {
    case WeightPrecision::float32:
      return {prepare_rows<float>,
              multiply<Float32>,
              finish<float, true>,
              soften_rows<float>,
              pack_outputs<float>,
              pack_inputs<float>,
              nothing,
              nothing};
    case WeightPrecision::bfloat16:
      return {prepare_rows<std::uint16_t>,
              multiply<Bfloat16>,
              finish<float, false>,
              soften_rows<std::uint16_t>,
              pack_outputs<std::uint16_t>,
              pack_inputs<std::uint16_t>,
              nothing,
              nothing};
    case WeightPrecision::int8:
      return {.prepare = prepare_rows<std::uint8_t>,
              .multiply = multiply<Int8>,
              .finish = finish<std::int32_t, false>,
              .enter = nothing,
              .leave = nothing};
    case WeightPrecision::int16: break;
  }
  return {.prepare = prepare_rows<std::int16_t>,
          .multiply = multiply<Int16>,
          .finish = finish<std::int32_t, false>,
          .soften = soften_rows<std::int16_t>,
          .pack_outputs = pack_outputs<std::int16_t>,
          .pack_inputs = pack_inputs<std::int16_t>,
          .enter = nothing,
          .leave = nothing};
}

}  // namespace
}  // namespace tutti
