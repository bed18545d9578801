#include "model/cpu/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "model/cpu/matrix/block.h"
#include "model/cpu/parallel.h"

namespace tutti {
namespace {

// Rows of a block: their scores against 1500 keys, 192 KiB in float32, stay in the second cache.
constexpr std::int64_t kBlockRows = 32;

/// Sizes of one job.
struct Plan {
  explicit Plan(const AttentionJob& job)
      : precision(job.precision),
        rows(job.q.size(0)),
        heads(job.keys.size(0)),
        length(job.keys.size(1)),
        size(job.keys.size(2)),
        key_groups(groups_of(precision, size)),
        key_panels(rounded_up(length, kPanel) / kPanel),
        value_groups(groups_of(precision, rounded_up(length, kPanel))),
        value_panels(rounded_up(size, kPanel) / kPanel) {}

  std::int64_t key_bytes() const { return key_panels * key_groups * kPanel * 4; }
  std::int64_t value_bytes() const { return value_panels * value_groups * kPanel * 4; }
  std::int64_t head_bytes() const { return key_bytes() + value_bytes(); }
  std::int64_t weight_columns() const { return value_groups * 4 / (precision == WeightPrecision::float32 ? 4 : 2); }

  WeightPrecision precision;
  std::int64_t rows, heads, length, size;
  std::int64_t key_groups, key_panels, value_groups, value_panels;
};

PanelsJob panels_job(const at::Tensor& side, std::int64_t head, std::byte* to, std::int64_t groups) {
  const auto rows = side.select(0, head);
  return {.rows = rows.const_data_ptr(),
          .bfloat16 = side.scalar_type() == at::kBFloat16,
          .stride = rows.stride(0),
          .count = rows.size(0),
          .width = rows.size(1),
          .panels = to,
          .groups = groups};
}

/// What a thread needs for a block of rows of one head.
struct BlockTools {
  BlockTools(const Kernels& table, const Plan& plan)
      : scope(table),
        queries(plan.precision, plan.size, kBlockRows),
        scores(static_cast<std::size_t>(kBlockRows * plan.key_panels * kPanel * 4)),
        weight_stride(plan.value_groups * 4 + 64),
        weights(static_cast<std::size_t>(kBlockRows * weight_stride)),
        sums(static_cast<std::size_t>(kBlockRows * plan.value_panels * kPanel * 4)) {}

  KernelScope scope;
  PreparedRows queries;
  AlignedBytes scores;
  std::int64_t weight_stride;  // bytes
  AlignedBytes weights;
  AlignedBytes sums;
  std::array<float, kBlockRows> totals{};
};

/// One side of a head's products, packed, and what a stored 1 of it is worth.
struct Side {
  const std::byte* panels;
  float scale;
};

/// Rows [first, first + count) of one head.
struct Block {
  std::int64_t head;
  std::int64_t first;
  std::int64_t count;
};

void score(const Kernels& table, const AttentionJob& job, const Plan& plan, const Block& block, const Side& keys,
           BlockTools& tools) {
  const auto stride = job.q.stride(0);
  const float* q = job.q.const_data_ptr<float>() + block.first * stride + block.head * plan.size;
  tools.queries.prepare(table, {q, stride, block.count}, {});
  const auto columns = plan.key_panels * kPanel;
  table.multiply({.rows_data = tools.queries.row(0),
                  .row_stride = tools.queries.stride(),
                  .panels_data = keys.panels,
                  .panel_stride = plan.key_groups * kPanel * 4,
                  .groups = plan.key_groups,
                  .rows = block.count,
                  .panels = plan.key_panels,
                  .sums = tools.scores.data(),
                  .sum_stride = columns});
  table.soften({.scores = tools.scores.data(),
                .stride = columns,
                .rows = block.count,
                .columns = plan.weight_columns(),
                .visible = job.visible + block.first * job.visible_step,
                .visible_step = job.visible_step,
                .scale = keys.scale / std::sqrt(static_cast<float>(plan.size)),
                .row_scales = tools.queries.scales(0),
                .weights = tools.weights.data(),
                .weights_stride = tools.weight_stride,
                .totals = tools.totals.data()});
}

template <class Sum>
void write_shares(const Sum* sums, std::int64_t count, float share, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(sums[i]) * share;
}

void weigh(const Kernels& table, const Plan& plan, const Block& block, const Side& values, BlockTools& tools,
           float* out) {
  const auto columns = plan.value_panels * kPanel;
  table.multiply({.rows_data = tools.weights.data(),
                  .row_stride = tools.weight_stride,
                  .panels_data = values.panels,
                  .panel_stride = plan.value_groups * kPanel * 4,
                  .groups = plan.value_groups,
                  .rows = block.count,
                  .panels = plan.value_panels,
                  .sums = tools.sums.data(),
                  .sum_stride = columns});
  const auto n = plan.heads * plan.size;
  for (std::int64_t row = 0; row < block.count; ++row) {
    const float share = values.scale / tools.totals[static_cast<std::size_t>(row)];
    float* to = out + (block.first + row) * n + block.head * plan.size;
    if (is_scaled(plan.precision)) {
      write_shares(tools.sums.as<std::int32_t>() + row * columns, plan.size, share, to);
    } else {
      write_shares(tools.sums.as<float>() + row * columns, plan.size, share, to);
    }
  }
}

}  // namespace

void attend(const AttentionJob& job, at::Tensor& out) {
  const Plan plan(job);
  const auto table = kernels(plan.precision);
  const AlignedBytes panels(static_cast<std::size_t>(plan.heads * plan.head_bytes()));
  std::vector<Side> sides(static_cast<std::size_t>(2 * plan.heads));  // keys and values of every head
  for_each_unit(2 * plan.heads, [&](std::int64_t unit) {
    const auto head = unit / 2;
    auto* keys = panels.data() + head * plan.head_bytes();
    auto* values = keys + plan.key_bytes();
    auto& side = sides[static_cast<std::size_t>(unit)];
    side = unit % 2 == 0 ? Side{keys, table.pack_outputs(panels_job(job.keys, head, keys, plan.key_groups))}
                         : Side{values, table.pack_inputs(panels_job(job.values, head, values, plan.value_groups))};
  });
  const auto blocks = (plan.rows + kBlockRows - 1) / kBlockRows;
  float* to = out.mutable_data_ptr<float>();
  for_each_unit(
      plan.heads * blocks, [&] { return BlockTools(table, plan); },
      [&](BlockTools& tools, std::int64_t unit) {
        const auto first = unit % blocks * kBlockRows;
        const Block block{unit / blocks, first, std::min(kBlockRows, plan.rows - first)};
        const auto* head = sides.data() + 2 * block.head;
        score(table, job, plan, block, head[0], tools);
        weigh(table, plan, block, head[1], tools, to);
      });
}

}  // namespace tutti
