#include "model/cpu/matrix/block.h"

#include <algorithm>
#include <array>

namespace tutti {
namespace {

// A strip of a product is finished while its sums are in the first cache: 64 rows of four panels, 16 KiB.
constexpr std::int64_t kStripRows = 64;
constexpr std::int64_t kStripPanels = 4;
constexpr std::int64_t kStripWidth = kStripPanels * kPanel;
// Rows whose distance is a power of two would fall on the same few lines of the cache.
constexpr std::int64_t kLine = 64;

}  // namespace

PreparedRows::PreparedRows(const PackedMatrix& weight, std::int64_t most_rows)
    : PreparedRows(weight.precision, weight.in, most_rows, weight.parts) {}

PreparedRows::PreparedRows(WeightPrecision precision, std::int64_t in, std::int64_t most_rows, std::int64_t parts)
    : in_(in),
      parts_(parts),
      groups_(groups_of(precision, in)),
      stride_((groups_ * 4 + kLine - 1) / kLine * kLine + kLine),
      // Tiles read whole pairs of sixteen rows.
      bytes_(static_cast<std::size_t>((most_rows * parts + 2 * kRowsTogether) * stride_)) {
  if (is_scaled(precision)) scales_.resize(static_cast<std::size_t>(most_rows * parts));
}

void PreparedRows::prepare(const Kernels& kernels, const Rows& x, const Before& before, std::int64_t first) {
  std::vector<float> scratch(before.norm_weight || parts_ > 1 ? static_cast<std::size_t>(in_) : 0);
  kernels.prepare({.x = x.data,
                   .stride = x.stride,
                   .rows = x.count,
                   .in = in_,
                   .norm_weight = before.norm_weight,
                   .norm_bias = before.norm_bias,
                   .parts = parts_,
                   .scratch = scratch.data(),
                   .out = bytes_.data() + first * parts_ * stride_,
                   .out_stride = stride_,
                   .groups = groups_,
                   .scales = scales_.empty() ? nullptr : scales_.data() + first * parts_});
}

void multiply_panels(const Kernels& kernels, const FirstRows& of_rows, const PackedMatrix& weight, const Panels& panels,
                     const After& after, const Output& y) {
  const auto& [rows, count] = of_rows;
  alignas(64) std::array<float, kStripRows * kStripWidth> sums;
  for (auto panel = panels.first; panel < panels.last; panel += kStripPanels) {
    const auto strip_panels = std::min(kStripPanels, panels.last - panel);
    const auto column = panel * kPanel;
    const auto lane = [&](const auto& values) { return values.empty() ? nullptr : values.data() + column; };
    const auto most_rows = kStripRows / rows.parts();
    for (std::int64_t row = 0; row < count; row += most_rows) {
      const auto strip_rows = std::min(most_rows, count - row);
      kernels.multiply({.rows_data = rows.row(row),
                        .row_stride = rows.stride(),
                        .panels_data = weight.panel(panel),
                        .panel_stride = weight.panel_bytes(),
                        .groups = weight.groups,
                        .rows = strip_rows * rows.parts(),
                        .parts = rows.parts(),
                        .panels = strip_panels,
                        .sums = sums.data(),
                        .sum_stride = kStripWidth});
      kernels.finish({.sums = sums.data(),
                      .sum_stride = kStripWidth,
                      .rows = strip_rows,
                      .columns = std::min(strip_panels * kPanel, weight.out - column),
                      .parts = rows.parts(),
                      .row_scales = rows.scales(row),
                      .column_scales = lane(weight.scales),
                      .column_sums = lane(weight.sums),
                      .bias = lane(weight.bias),
                      .gelu = after.gelu,
                      .addend = after.addend ? after.addend + row * after.stride + column : nullptr,
                      .addend_stride = after.stride,
                      .y = y.data + row * y.stride + column,
                      .y_stride = y.stride});
    }
  }
}

}  // namespace tutti
