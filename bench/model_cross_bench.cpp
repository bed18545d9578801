// A decoder layer's attention over windows in eight bits, as the CPU's operators do it, on one thread: tiny's six heads
// over 1500 positions. Rows of one window beside one another, as beams are, share the reading of it.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "model/cpu/byte_kv.h"

namespace {

using namespace tutti;

constexpr std::int64_t kHeads = 6, kWidth = kHeads * ByteKv::kHeadSize, kPositions = 1500;

/// range(0): windows; range(1): rows of each.
void attend_to_windows(benchmark::State& state) {
  at::set_num_threads(1);
  const auto windows = state.range(0), rows = state.range(1);
  std::vector<std::shared_ptr<const ByteKv>> kept;
  std::vector<ByteRow> queries;
  for (std::int64_t window = 0; window < windows; ++window) {
    kept.push_back(make_byte_kv(at::randn({kPositions, 2 * kWidth}), kHeads));
    for (std::int64_t row = 0; row < rows; ++row) queries.push_back({window * rows + row, kept.back().get()});
  }
  const auto q = at::randn({windows * rows, kWidth});
  auto out = at::empty({windows * rows, kWidth});
  for (auto _ : state) attend_byte_rows(q, queries, out);
  using benchmark::Counter;
  state.counters["rows"] = Counter(static_cast<double>(windows * rows), Counter::kIsIterationInvariantRate);
}

BENCHMARK(attend_to_windows)->ArgsProduct({{1, 8}, {1, 2, 5}})->ArgNames({"windows", "rows"});

}  // namespace
