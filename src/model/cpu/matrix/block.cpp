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

PreparedRows::PreparedRows(Precision precision, std::int64_t in, std::int64_t most_rows)
    : in_(in),
      groups_(groups_of(precision, in)),
      stride_((groups_ * 4 + kLine - 1) / kLine * kLine + kLine),
      bytes_(static_cast<std::size_t>((most_rows + 2 * kRowsTogether - 1) / kRowsTogether * kRowsTogether * stride_)) {
  if (precision == Precision::int8) scales_.resize(static_cast<std::size_t>(most_rows));
}

void PreparedRows::prepare(const Kernels& kernels, const Rows& x, const Before& before, std::int64_t first) {
  std::vector<float> scratch(before.norm_weight ? static_cast<std::size_t>(in_) : 0);
  kernels.prepare({.x = x.data,
                   .stride = x.stride,
                   .rows = x.count,
                   .in = in_,
                   .norm_weight = before.norm_weight,
                   .norm_bias = before.norm_bias,
                   .scratch = scratch.data(),
                   .out = bytes_.data() + first * stride_,
                   .out_stride = stride_,
                   .groups = groups_,
                   .scales = scales_.empty() ? nullptr : scales_.data() + first});
}

void multiply_panels(const Kernels& kernels, const PreparedRows& rows, std::int64_t count, const PackedMatrix& weight,
                     std::int64_t first, std::int64_t last, const After& after, const Output& y) {
  alignas(64) std::array<float, kStripRows * kStripWidth> sums;
  for (auto panel = first; panel < last; panel += kStripPanels) {
    const auto panels = std::min(kStripPanels, last - panel);
    const auto column = panel * kPanel;
    const auto lane = [&](const auto& values) { return values.empty() ? nullptr : values.data() + column; };
    for (std::int64_t row = 0; row < count; row += kStripRows) {
      const auto strip_rows = std::min(kStripRows, count - row);
      kernels.multiply({.rows_data = rows.row(row),
                        .row_stride = rows.stride(),
                        .panels_data = weight.panel(panel),
                        .panel_stride = weight.panel_bytes(),
                        .groups = weight.groups,
                        .rows = strip_rows,
                        .panels = panels,
                        .sums = sums.data(),
                        .sum_stride = kStripWidth});
      kernels.finish({.sums = sums.data(),
                      .sum_stride = kStripWidth,
                      .rows = strip_rows,
                      .columns = std::min(panels * kPanel, weight.out - column),
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
