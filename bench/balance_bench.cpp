// The time of a decision with 16 devices and 100,000 jobs queued. The promise is about the 99th percentile: at most 50
// µs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "balance/dispatcher.h"
#include "base/clock.h"
#include "support/log_normal_lengths.h"

namespace tutti {
namespace {

constexpr int kDevices = 16;
constexpr std::size_t kJobs = 100'000;
constexpr int kDecisions = 4000;  // timed together, for a percentile

/// A dispatcher in the middle of a batch: all devices full, and one piece after the other comes to its end.
class Batch {
 public:
  explicit Batch(bool whole) : whole_(whole) {
    for (int i = 0; i < kDevices; ++i)
      dispatcher_.add_device({.id = "device",
                              .speed = 20.0 + i,
                              .slots = whole ? 4 : 8,
                              .memory = Bytes{24LL << 30},
                              .piece_memory = {200 << 20}},
                             {});
    for (const double audio : log_normal_lengths(kJobs, Seconds(2400), 0.7, 1)) add(Seconds(audio));
    while (const auto grant = dispatcher_.next({})) running_.push_back(*grant);
  }

  /// One piece ends and another is granted: appends the time of either decision, in seconds.
  void step(std::vector<double>& took) {
    const Grant ended = running_.front();
    running_.pop_front();
    now_ += 0.1;
    dispatcher_.finished(ended.id, Seconds(now_));
    while (true) {
      const auto begun = Clock::real().now();
      const auto grant = dispatcher_.next(Seconds(now_));
      took.push_back(Seconds(Clock::real().now() - begun).count());
      if (!grant) return;
      running_.push_back(*grant);
    }
  }

 private:
  void add(Seconds audio) {
    const auto windows = static_cast<std::int64_t>(audio / Seconds(30)) + 1;
    dispatcher_.add_job(jobs_, {.audio = audio, .whole = whole_}, {});
    dispatcher_.offer(jobs_, whole_ ? audio : Seconds(30), whole_ ? 1 : windows, {});
    ++jobs_;
  }

  bool whole_;
  Dispatcher dispatcher_{};
  std::deque<Grant> running_{};
  JobKey jobs_ = 0;
  double now_ = 0;
};

void decision_p99(benchmark::State& state) {
  Batch batch(state.range(0) == 1);
  std::vector<double> took;
  for (auto _ : state) {
    took.clear();
    while (took.size() < kDecisions) batch.step(took);
    const auto at = took.begin() + static_cast<std::ptrdiff_t>(took.size() * 99 / 100);
    std::nth_element(took.begin(), at, took.end());
    state.SetIterationTime(*at);
  }
}
BENCHMARK(decision_p99)
    ->ArgName("whole_files")
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(5);

void a_hundred_thousand_jobs_added(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Batch(false));
}
BENCHMARK(a_hundred_thousand_jobs_added)->Unit(benchmark::kMillisecond)->Iterations(2);

}  // namespace
}  // namespace tutti
