// Utilisation of an emulated accelerator (a timer) behind the ring, as MLPerf Storage counts it: reads of 5 ms of which
// one in fifty stalls for 300 ms, steps of 30 ms. `utilisation` is measured, `forecast` the ring's own simulation of
// the same reads, `serial` reading and stepping in turn. All times are a third of those named: the ratios are the same.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <thread>

#include "base/random/counter_random.h"
#include "feed/ring/ring_depth.h"
#include "support/emulated_accelerator.h"

using namespace tutti;

namespace {

constexpr std::size_t kBatches = 300;
constexpr double kScale = 1.0 / 3;
const Seconds kRead = Seconds(0.005) * kScale, kStall = Seconds(0.3) * kScale, kStep = Seconds(0.03) * kScale;

std::vector<Seconds> reads() {
  CounterRandom random(11);
  std::vector<Seconds> all;
  for (std::size_t i = 0; i < kBatches; i += 50) {
    all.insert(all.end(), 50, kRead);
    all[i + static_cast<std::size_t>(random.below(50))] += kStall;
  }
  return all;
}

/// The timer of a device: sleeping loses nothing, because each sleep ends where the one before should have.
class Timer {
 public:
  void spend(Seconds time) {
    const auto now = std::chrono::steady_clock::now();
    if (now - until_ > std::chrono::milliseconds(2)) until_ = now;  // it had nothing to do meanwhile
    until_ += std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    std::this_thread::sleep_until(until_);
  }

 private:
  std::chrono::steady_clock::time_point until_{};
};

void ring(benchmark::State& state, int most_depth) {
  const auto planned = reads();
  const std::vector<Seconds> steps{kStep};
  const auto depth = static_cast<int>(state.range(0));
  RingReport report;
  for (auto _ : state) {
    EmulatedAccelerator device;
    Timer reader, accelerator;
    std::size_t next = 0;
    DeviceRing batches(
        [&]() -> Result<std::optional<Batch>> {
          if (next == planned.size()) return std::nullopt;
          reader.spend(planned[next++]);
          return Batch{};
        },
        device, {.depth = depth, .most_depth = std::max(depth, most_depth)});
    for (;;) {
      auto slot = batches.next();
      if (!slot) std::abort();
      if (!*slot) break;
      accelerator.spend(kStep);
    }
    report = batches.report();
  }
  Seconds read{};
  for (const Seconds one : planned) read += one;
  state.counters["utilisation"] = report.utilisation();
  state.counters["forecast"] = simulate_ring(planned, steps, depth).utilisation;
  state.counters["serial"] = kStep * static_cast<double>(kBatches) / (kStep * static_cast<double>(kBatches) + read);
  state.counters["depth_at_end"] = report.depth;
}

BENCHMARK_CAPTURE(ring, depth, 0)
    ->Arg(1)
    ->Arg(3)
    ->Arg(6)
    ->Arg(10)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(ring, tuned, 16)->Arg(3)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

}  // namespace
