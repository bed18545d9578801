// What a batch's log-mels take of the thread that computes, in sixteen bits: where they were made ready as they came,
// and where they were not. And what a window takes of the thread that receives it.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>
#include <unistd.h>

#include <vector>

#include "worker/mel_ring.h"

namespace {

using namespace tutti;

constexpr std::int32_t kBins = 128, kFrames = 3000;  // large-v3's
constexpr std::int64_t kTogether = 8;

WindowMel received(MelRing& ring, const SharedWindow& shared) {
  const OpenWindow message{.window = 1, .n_mels = kBins, .frames = kFrames};
  return ring.receive(message, OwnedFd(::dup(shared.fd()))).value();
}

SharedWindow some_mel() {
  const auto mel = at::randn({kBins, kFrames});
  return SharedWindow::create({mel.const_data_ptr<float>(), static_cast<std::size_t>(mel.numel())}).value();
}

at::Tensor memory_for(std::int64_t windows) {
  return at::empty({windows, kBins, kFrames}, at::kHalf);
}

/// range(0): buffers of the ring.
void batch(benchmark::State& state) {
  const c10::InferenceMode no_autograd;
  MelRing ring(memory_for(state.range(0)));
  const auto shared = some_mel();
  const auto fresh = memory_for(kTogether);
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<WindowMel> windows;
    std::vector<const WindowMel*> mels;
    for (std::int64_t i = 0; i < kTogether; ++i) windows.push_back(received(ring, shared));
    for (const auto& window : windows) mels.push_back(&window);
    state.ResumeTiming();
    const auto ready = ring.side_by_side(mels);
    for (std::int64_t i = 0; !ready && i < kTogether; ++i) ring.write(*mels[static_cast<std::size_t>(i)], fresh[i]);
    benchmark::DoNotOptimize(ready);
    state.PauseTiming();
    windows.clear();
    state.ResumeTiming();
  }
  using benchmark::Counter;
  state.counters["windows"] = Counter(kTogether, Counter::kIsIterationInvariantRate);
}

void receive(benchmark::State& state) {
  MelRing ring(memory_for(kTogether));
  const auto shared = some_mel();
  for (auto _ : state) benchmark::DoNotOptimize(received(ring, shared));
}

BENCHMARK(batch)->ArgName("buffers")->Arg(0)->Arg(kTogether)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(receive)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
