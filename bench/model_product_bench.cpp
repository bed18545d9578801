// A product as the CPU's operators do it, preparing and finishing included, on one thread: rows of 1536 numbers with
// the weights of 384 outputs (the second layer of tiny's MLP).
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include "model/cpu/matrix/product.h"

namespace {

using namespace tutti;

constexpr std::int64_t kIn = 1536, kOut = 384;
constexpr std::int64_t kParts = 2;  // of int8 rows, as the decoder has them

/// range(0): WeightPrecision; range(1): rows.
void product_of_rows(benchmark::State& state) {
  at::set_num_threads(1);
  const auto rows = state.range(1);
  const auto weight = pack(at::randn({kOut, kIn}), {}, static_cast<WeightPrecision>(state.range(0)), kParts);
  const auto x = at::randn({rows, kIn});
  auto y = at::empty({rows, kOut});
  for (auto _ : state)
    product({x.const_data_ptr<float>(), kIn, rows}, {}, weight, {}, {y.mutable_data_ptr<float>(), kOut});
  using benchmark::Counter;
  const auto operations = static_cast<double>(2 * rows * kIn * kOut);
  state.counters["operations"] = Counter(operations, Counter::kIsIterationInvariantRate);
}

constexpr auto number(WeightPrecision precision) {
  return static_cast<std::int64_t>(precision);
}

const std::vector<std::int64_t> kEveryPrecision{number(WeightPrecision::float32), number(WeightPrecision::bfloat16),
                                                number(WeightPrecision::int8), number(WeightPrecision::int16)};
BENCHMARK(product_of_rows)->ArgsProduct({kEveryPrecision, {1, 8, 64}})->ArgNames({"precision", "rows"});

}  // namespace
