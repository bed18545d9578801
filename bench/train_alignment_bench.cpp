// Monotonic alignment search beside the implementation that is usual on a CPU: Glow-TTS's, which VITS, Grad-TTS and
// Matcha-TTS took over. A batch of 16 clips of 100 symbols and 700 frames.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "train/tts/alignment.h"

namespace {

using namespace tutti;

constexpr std::int64_t kRows = 16, kSymbols = 100, kFrames = 700;

/// core.pyx of Glow-TTS line by line: value [symbols, frames] is overwritten, path gets its ones.
void usual_alignment(float* value, int* path, int symbols, int frames) {
  constexpr float kNever = -1e9F;
  const auto at = [&](int x, int y) -> float& { return value[x * frames + y]; };
  for (int y = 0; y < frames; ++y)
    for (int x = std::max(0, symbols + y - frames); x < std::min(symbols, y + 1); ++x) {
      const float current = x == y ? kNever : at(x, y - 1);
      const float previous = x == 0 ? (y == 0 ? 0.F : kNever) : at(x - 1, y - 1);
      at(x, y) = std::max(current, previous) + at(x, y);
    }
  int index = symbols - 1;
  for (int y = frames - 1; y >= 0; --y) {
    path[index * frames + y] = 1;
    if (index != 0 && (index == y || at(index, y - 1) < at(index - 1, y - 1))) --index;
  }
}

void UsualAlignment(benchmark::State& state) {
  const auto scores = at::randn({kRows, kSymbols, kFrames});
  for (auto _ : state) {
    state.PauseTiming();
    const auto values = scores.clone();
    const auto paths = at::zeros({kRows, kSymbols, kFrames}, at::TensorOptions(at::kInt));
    state.ResumeTiming();
    at::parallel_for(0, kRows, 1, [&](std::int64_t first, std::int64_t last) {
      for (auto row = first; row < last; ++row)
        usual_alignment(values.mutable_data_ptr<float>() + row * kSymbols * kFrames,
                        paths.mutable_data_ptr<int>() + row * kSymbols * kFrames, static_cast<int>(kSymbols),
                        static_cast<int>(kFrames));
    });
    benchmark::DoNotOptimize(paths);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(UsualAlignment)->Unit(benchmark::kMillisecond)->UseRealTime();

void OurAlignment(benchmark::State& state) {
  const auto scores = at::randn({kRows, kFrames, kSymbols});
  const auto symbols = at::full({kRows}, kSymbols, at::TensorOptions(at::kLong));
  const auto frames = at::full({kRows}, kFrames, at::TensorOptions(at::kLong));
  for (auto _ : state) benchmark::DoNotOptimize(aligned_durations(scores, symbols, frames));
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(OurAlignment)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
