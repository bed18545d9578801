#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/cpu/matrix/aligned_bytes.h"
#include "model/cpu/matrix/kernels.h"

namespace tutti {

/// Bytes of a prepared row: whole tiles of 64 for the precisions that have tiles.
std::int64_t groups_of(WeightPrecision precision, std::int64_t in);

/// A layer's weights as the kernels read them, panel by panel, with what follows the product. Immutable.
struct PackedMatrix {
  WeightPrecision precision = WeightPrecision::float32;
  std::int64_t parts = 1;  // int8: numbers that a value of the rows is stored as, 1 or 2 (RowsJob)
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t groups = 0;
  AlignedBytes panels{};             // [out / 16 rounded up][groups][16][4 bytes]; 0 behind `in` and `out`
  std::vector<float> bias{};         // up to a multiple of 16, or empty
  std::vector<float> scales{};       // int8 and int16: per output, likewise
  std::vector<std::int32_t> sums{};  // int8: of each output's stored weights; int16: 0

  std::int64_t panel_count() const { return (out + kPanel - 1) / kPanel; }
  std::int64_t panel_bytes() const { return groups * kPanel * 4; }
  const std::byte* panel(std::int64_t index) const { return panels.data() + index * panel_bytes(); }
};

/// weight: [out, in] on the CPU, any floating-point type; bias: [out] or undefined. int8 and int16 are scaled as
/// WeightsJob's. Needs AVX2.
PackedMatrix pack(const at::Tensor& weight, const at::Tensor& bias, WeightPrecision precision, std::int64_t parts = 1);

}  // namespace tutti
