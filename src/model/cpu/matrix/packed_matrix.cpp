#include "model/cpu/matrix/packed_matrix.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/cpu/parallel.h"

namespace tutti {
namespace {

constexpr std::int64_t kGroupBytes = 4;

std::int64_t value_bytes(WeightPrecision precision) {
  switch (precision) {
    case WeightPrecision::float32: return 4;
    case WeightPrecision::int8: return 1;
    default: return 2;
  }
}

/// One output's weights in the precision's own form, where sixteen outputs lie side by side.
template <class Value, class Convert>
void write_output(std::byte* lane, const float* weights, std::int64_t in, Convert convert) {
  constexpr auto per_group = kGroupBytes / static_cast<std::int64_t>(sizeof(Value));
  for (std::int64_t k = 0; k < in; ++k) {
    const Value value = convert(weights[k]);
    auto* to = lane + k / per_group * kPanel * kGroupBytes + k % per_group * static_cast<std::int64_t>(sizeof value);
    std::memcpy(to, &value, sizeof value);
  }
}

std::uint16_t to_bfloat16(float value) {
  return c10::BFloat16(value).x;
}

template <class Stored>
void write_scaled_output(PackedMatrix& packed, std::byte* lane, const float* weights, std::int64_t output) {
  constexpr float most = sizeof(Stored) == 1 ? 127 : kMostWord;
  float largest = 0;
  double squares = 0;
  for (std::int64_t k = 0; k < packed.in; ++k) {
    largest = std::max(largest, std::abs(weights[k]));
    squares += weights[k] * weights[k];
  }
  const auto root = static_cast<float>(std::sqrt(squares / static_cast<double>(packed.in)));
  if (sizeof(Stored) == 2) largest = std::max(largest, root * (kMostWord / kWordRoot));
  // Weights that vanish would leave no scale to divide by.
  const float scale = std::max(largest / most, std::numeric_limits<float>::min());
  std::int32_t sum = 0;
  write_output<Stored>(lane, weights, packed.in, [&](float value) {
    const auto whole = static_cast<Stored>(std::lrint(value / scale));
    sum += whole;
    return whole;
  });
  packed.scales[static_cast<std::size_t>(output)] = scale;
  if (sizeof(Stored) == 1) packed.sums[static_cast<std::size_t>(output)] = sum;
}

/// rows: up to sixteen outputs, float32.
void write_panel(PackedMatrix& packed, std::int64_t panel, const at::Tensor& rows) {
  auto* to = packed.panels.data() + panel * packed.panel_bytes();
  std::memset(to, 0, static_cast<std::size_t>(packed.panel_bytes()));
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    const auto* weights = rows.const_data_ptr<float>() + row * packed.in;
    auto* lane = to + row * kGroupBytes;
    switch (packed.precision) {
      case WeightPrecision::float32: write_output<float>(lane, weights, packed.in, [](float v) { return v; }); break;
      case WeightPrecision::bfloat16: write_output<std::uint16_t>(lane, weights, packed.in, to_bfloat16); break;
      case WeightPrecision::int8: write_scaled_output<std::int8_t>(packed, lane, weights, panel * kPanel + row); break;
      case WeightPrecision::int16:
        write_scaled_output<std::int16_t>(packed, lane, weights, panel * kPanel + row);
        break;
    }
  }
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
  for_each_unit(packed.panel_count(), [&](std::int64_t panel) {
    const c10::InferenceMode guard;
    const auto first = panel * kPanel;
    const auto rows = weight.narrow(0, first, std::min(kPanel, packed.out - first));
    write_panel(packed, panel, rows.to(at::kFloat).contiguous());
  });
  return packed;
}

}  // namespace tutti
