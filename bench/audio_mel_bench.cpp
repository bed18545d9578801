// Log-mel of one 30 s window, reading its samples included, on one core.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <span>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "base/files.h"

using namespace tutti;

namespace {

constexpr std::int64_t kSamples = 480000, kFrames = 3000;

/// A minute of tones under noise.
Recording audio() {
  std::vector<std::int16_t> pcm;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < 2 * kSamples; ++i) {
    state = state * 1664525U + 1013904223U;
    pcm.push_back(static_cast<std::int16_t>(8000 * std::sin(0.05 * static_cast<double>(i)) + (state >> 24)));
  }
  auto file = open_unnamed_file();
  if (!file || !write_all(file->get(), std::as_bytes(std::span(pcm)), "bench sound")) std::abort();
  return Recording(std::move(*file), static_cast<std::int64_t>(pcm.size()), {});
}

void window(benchmark::State& state) {
  const Recording recording = audio();
  const LogMel log_mel(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(log_mel.window(recording, 1000, kFrames, 1.0F));
}
BENCHMARK(window)->Arg(80)->Arg(128)->Unit(benchmark::kMillisecond);

void maximum_per_minute(benchmark::State& state) {
  const Recording recording = audio();
  const LogMel log_mel(80);
  for (auto _ : state) benchmark::DoNotOptimize(log_mel.maximum(recording));
}
BENCHMARK(maximum_per_minute)->Unit(benchmark::kMillisecond);

}  // namespace
