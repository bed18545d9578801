// What it costs to hand one item from a thread to another. The promise: at most 1 µs amortised at capacity 64.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <thread>

#include "flow/channel.h"
#include "flow/pipeline.h"

namespace tutti {
namespace {

void one_writer_one_reader(benchmark::State& state) {
  auto [writer, reader] = make_channel<std::uint64_t>({.items = static_cast<std::size_t>(state.range(0))});
  std::jthread consumer([reader = std::move(reader)] {
    while (auto item = reader.pop()) benchmark::DoNotOptimize(*item);
  });
  std::uint64_t next = 0;
  for (auto _ : state)
    if (!writer.push(std::uint64_t{next++})) state.SkipWithError("the reader left");
  writer = {};
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(one_writer_one_reader)->Arg(1)->Arg(8)->Arg(64)->Arg(1024)->UseRealTime();

void by_bytes(benchmark::State& state) {
  auto [writer, reader] = make_channel<std::uint64_t>({.items = 64, .bytes = 64 * sizeof(std::uint64_t)},
                                                      [](const std::uint64_t& item) { return sizeof item; });
  std::jthread consumer([reader = std::move(reader)] {
    while (auto item = reader.pop()) benchmark::DoNotOptimize(*item);
  });
  std::uint64_t next = 0;
  for (auto _ : state)
    if (!writer.push(std::uint64_t{next++})) state.SkipWithError("the reader left");
  writer = {};
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(by_bytes)->UseRealTime();

/// Through a whole stage: two hand-offs, the clocks and the counters.
void through_a_stage(benchmark::State& state) {
  const auto order = state.range(1) ? Order::input : Order::completion;
  auto [writer, reader] = make_channel<std::uint64_t>({.items = 64});
  Pipeline pipeline;
  auto out = pipeline.map("pass", std::move(reader), [](std::uint64_t&& item) -> Result<std::uint64_t> { return item; },
                          {.threads = static_cast<int>(state.range(0)), .order = order});
  pipeline.sink("drop", std::move(out), [](std::uint64_t&&) -> Result<void> { return {}; });
  pipeline.start();
  std::uint64_t next = 0;
  for (auto _ : state)
    if (!writer.push(std::uint64_t{next++})) state.SkipWithError("the stage left");
  writer = {};
  if (!pipeline.join()) state.SkipWithError("the pipeline failed");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(through_a_stage)->ArgsProduct({{1, 4}, {0, 1}})->ArgNames({"threads", "ordered"})->UseRealTime();

}  // namespace
}  // namespace tutti
