#include "model/cpu/matrix/product.h"

#include <algorithm>

#include "model/cpu/matrix/block.h"
#include "model/cpu/parallel.h"

namespace tutti {
namespace {

// Rows of a block: enough to read every weight seldom, few enough for what is between two layers to stay in the cache.
constexpr std::int64_t kMostBlockRows = 64;
// Bytes of weights worth a turn of their own, with few rows: about 4 us.
constexpr std::int64_t kUnitBytes = 64 << 10;

/// Blocks of rows, where there are enough of them to keep all threads busy; else 0.
std::int64_t block_rows(std::int64_t rows) {
  const auto threads = loop_threads();
  if (rows < 2 * kRowsTogether * threads) return 0;
  const auto share = rows / (4 * threads) / kRowsTogether * kRowsTogether;
  return std::clamp(share, kRowsTogether, kMostBlockRows);
}

Rows part(const Rows& x, std::int64_t first, std::int64_t most) {
  return {x.data + first * x.stride, x.stride, std::min(most, x.count - first)};
}

After part(const After& after, std::int64_t first) {
  return {after.gelu, after.addend ? after.addend + first * after.stride : nullptr, after.stride};
}

Output part(const Output& y, std::int64_t first) {
  return {y.data + first * y.stride, y.stride};
}

struct BlockTools {
  KernelScope scope;
  PreparedRows rows;
};

/// One call of `product`, and the kernels it takes.
struct Product {
  const Rows& x;
  const Before& before;
  const PackedMatrix& weight;
  const After& after;
  const Output& y;
  Kernels table = kernels(weight.precision);
};

Panels all_panels(const PackedMatrix& weight) {
  return {0, weight.panel_count()};
}

void product_by_rows(const Product& p, std::int64_t block) {
  for_each_unit((p.x.count + block - 1) / block,
                [&] {
                  return BlockTools{KernelScope(p.table), PreparedRows(p.weight, block)};
                },
                [&](BlockTools& tools, std::int64_t unit) {
                  const auto first = unit * block;
                  const auto rows = part(p.x, first, block);
                  tools.rows.prepare(p.table, rows, p.before);
                  multiply_panels(p.table, {tools.rows, rows.count}, p.weight, all_panels(p.weight),
                                  part(p.after, first), part(p.y, first));
                });
}

void product_by_columns(const Product& p) {
  PreparedRows prepared(p.weight, p.x.count);
  constexpr std::int64_t together = 16;
  for_each_unit((p.x.count + together - 1) / together, [&](std::int64_t unit) {
    prepared.prepare(p.table, part(p.x, unit * together, together), p.before, unit * together);
  });
  const auto panel_cost = p.weight.panel_bytes() * (1 + p.x.count * p.weight.parts / 8);
  const auto together_panels = (kUnitBytes + panel_cost - 1) / panel_cost;
  const auto panels = (together_panels + 3) / 4 * 4;
  for_each_unit((p.weight.panel_count() + panels - 1) / panels, [&] { return KernelScope(p.table); },
                [&](const KernelScope&, std::int64_t unit) {
                  const auto first = unit * panels;
                  const auto last = std::min(first + panels, p.weight.panel_count());
                  multiply_panels(p.table, {prepared, p.x.count}, p.weight, {first, last}, p.after, p.y);
                });
}

struct TwoLayerTools {
  KernelScope scope;
  PreparedRows outer;
  PreparedRows inner;
  std::vector<float> between;
};

}  // namespace

void product(const Rows& x, const Before& before, const PackedMatrix& weight, const After& after, const Output& y) {
  const Product one{x, before, weight, after, y};
  const auto block = block_rows(x.count);
  if (block > 0) return product_by_rows(one, block);
  product_by_columns(one);
}

void add_two_layers(float* x, std::int64_t rows, const Before& before, const PackedMatrix& first,
                    const PackedMatrix& second) {
  const auto table = kernels(first.precision);
  const auto block = block_rows(rows);
  const Rows input{x, first.in, rows};
  const After add{.addend = x, .stride = first.in};
  const Output output{x, first.in};
  if (block == 0) {
    std::vector<float> between(static_cast<std::size_t>(rows * first.out));
    product(input, before, first, {.gelu = true}, {between.data(), first.out});
    return product({between.data(), first.out, rows}, {}, second, add, output);
  }
  for_each_unit((rows + block - 1) / block,
                [&] {
                  return TwoLayerTools{KernelScope(table), PreparedRows(first, block), PreparedRows(second, block),
                                       std::vector<float>(static_cast<std::size_t>(block * first.out))};
                },
                [&](TwoLayerTools& tools, std::int64_t unit) {
                  const auto begin = unit * block;
                  const auto here = part(input, begin, block);
                  tools.outer.prepare(table, here, before);
                  multiply_panels(table, {tools.outer, here.count}, first, all_panels(first), {.gelu = true},
                                  {tools.between.data(), first.out});
                  tools.inner.prepare(table, {tools.between.data(), first.out, here.count}, {});
                  multiply_panels(table, {tools.inner, here.count}, second, all_panels(second), part(add, begin),
                                  part(output, begin));
                });
}

}  // namespace tutti
