#include "model/cpu/matrix/packed_matrix.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "model/cpu/parallel.h"

namespace tutti {
namespace {

std::int64_t value_bytes(WeightPrecision precision) {
  switch (precision) {
    case WeightPrecision::float32: return 4;
    case WeightPrecision::int8: return 1;
    default: return 2;
  }
}

/// rows: up to sixteen outputs; float32, their own memory, which is lost.
void write_panel(PackedMatrix& packed, std::int64_t panel, at::Tensor& rows, const Kernels& table) {
  const auto first = static_cast<std::size_t>(panel * kPanel);
  const bool scaled = is_scaled(packed.precision);
  table.pack_weights({.weights = rows.mutable_data_ptr<float>(),
                      .count = rows.size(0),
                      .in = packed.in,
                      .panel = packed.panels.data() + panel * packed.panel_bytes(),
                      .groups = packed.groups,
                      .scales = scaled ? packed.scales.data() + first : nullptr,
                      .sums = scaled ? packed.sums.data() + first : nullptr});
}

}  // namespace

std::int64_t groups_of(WeightPrecision precision, std::int64_t in) {
  if (precision == WeightPrecision::float32) return in;
  const auto tile = 64 / value_bytes(precision);
  return (in + tile - 1) / tile * 16;
}

PackedMatrix pack(const at::Tensor& weight, const at::Tensor& bias, WeightPrecision precision, std::int64_t parts) {
  PackedMatrix packed{.precision = precision,
                      .parts = precision == WeightPrecision::int8 ? parts : 1,
                      .in = weight.size(1),
                      .out = weight.size(0),
                      .groups = groups_of(precision, weight.size(1))};
  const auto lanes = static_cast<std::size_t>(packed.panel_count() * kPanel);
  packed.panels = AlignedBytes(static_cast<std::size_t>(packed.panel_count() * packed.panel_bytes()));
  if (is_scaled(precision)) {
    packed.scales.resize(lanes);
    packed.sums.resize(lanes);
  }
  if (bias.defined()) {
    const auto wide = bias.to(at::kFloat).contiguous();
    packed.bias.assign(wide.const_data_ptr<float>(), wide.const_data_ptr<float>() + packed.out);
    packed.bias.resize(lanes);
  }
  const auto table = kernels(precision);
  for_each_unit(packed.panel_count(), [&](std::int64_t panel) {
    const c10::InferenceMode guard;
    const auto first = panel * kPanel;
    const auto rows = weight.narrow(0, first, std::min(kPanel, packed.out - first));
    auto own = at::empty(rows.sizes(), at::TensorOptions(at::kFloat));
    write_panel(packed, panel, own.copy_(rows), table);
  });
  return packed;
}

}  // namespace tutti
