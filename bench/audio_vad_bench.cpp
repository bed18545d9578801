// Finding speech in a minute of audio on one core, reading its samples included.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <span>

#include "audio/vad/speech.h"
#include "base/files.h"

using namespace tutti;

namespace {

/// A minute of tones under noise.
Recording audio() {
  std::vector<std::int16_t> pcm;
  std::uint32_t state = 1;
  for (int i = 0; i < 60 * kModelRate.value; ++i) {
    state = state * 1664525U + 1013904223U;
    pcm.push_back(static_cast<std::int16_t>(8000 * std::sin(0.05 * static_cast<double>(i)) + (state >> 24)));
  }
  auto file = open_unnamed_file();
  if (!file || !write_all(file->get(), std::as_bytes(std::span(pcm)), "bench sound")) std::abort();
  return Recording(std::move(*file), static_cast<std::int64_t>(pcm.size()), {});
}

void minute(benchmark::State& state, VadMethod method) {
  const Recording recording = audio();
  for (auto _ : state) benchmark::DoNotOptimize(speech_probabilities(recording, VadOptions{.method = method}));
}
BENCHMARK_CAPTURE(minute, silero, VadMethod::silero)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(minute, energy, VadMethod::energy)->Unit(benchmark::kMillisecond);

}  // namespace
