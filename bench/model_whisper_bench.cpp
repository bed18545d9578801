// The parts of a Whisper network: one window's encoding, its cross keys and values, decoder steps and prefills. Random
// weights in the shape of tiny: speed does not depend on what they are.
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <vector>

#include "model/whisper.h"

namespace {

using namespace tutti;

constexpr WhisperDims kTiny{.n_audio_state = 384,
                            .n_audio_head = 6,
                            .n_audio_layer = 4,
                            .n_vocab = 51864,
                            .n_text_state = 384,
                            .n_text_head = 6,
                            .n_text_layer = 4};

at::ScalarType dtype_of(const benchmark::State& state) {
  return state.range(0) == 0 ? at::kFloat : at::kBFloat16;
}

const WhisperModel& model_of(const benchmark::State& state) {
  static const auto float32 = WhisperModel::random(kTiny, at::kCPU, at::kFloat);
  static const auto bfloat16 = WhisperModel::random(kTiny, at::kCPU, at::kBFloat16);
  return dtype_of(state) == at::kFloat ? float32 : bfloat16;
}

at::Tensor some_mel() {
  return at::randn({kTiny.n_mels, 2 * kTiny.n_audio_ctx});
}

void encode(benchmark::State& state) {
  const auto& model = model_of(state);
  const auto mel = some_mel();
  for (auto _ : state) benchmark::DoNotOptimize(model.encode(mel));
}

void cross_kv(benchmark::State& state) {
  const auto& model = model_of(state);
  const auto encoded = model.encode(some_mel());
  for (auto _ : state) benchmark::DoNotOptimize(model.cross_kv(encoded));
}

/// range(1) sequences, each on a window of its own, take one step at position 100.
void step(benchmark::State& state) {
  const auto& model = model_of(state);
  const auto batch = static_cast<std::int32_t>(state.range(1));
  auto cache = model.make_self_kv(batch);
  const std::vector<std::int32_t> before(100, 440);
  std::vector<CrossKv> windows;
  for (std::int32_t i = 0; i < batch; ++i) windows.push_back(model.cross_kv(model.encode(some_mel())));
  std::vector<SequenceStep> steps;
  for (std::int32_t i = 0; i < batch; ++i) {
    steps.push_back({.slot = i, .tokens = before, .window = &windows[static_cast<std::size_t>(i)]});
  }
  model.decode(steps, cache);
  for (auto& next : steps) {
    next.position = 100;
    next.tokens = std::span(before).first(1);
  }
  for (auto _ : state) benchmark::DoNotOptimize(model.decode(steps, cache));
}

/// A prompt of range(1) tokens into an empty slot, logits of the last alone.
void prefill(benchmark::State& state) {
  const auto& model = model_of(state);
  auto cache = model.make_self_kv(1);
  const auto window = model.cross_kv(model.encode(some_mel()));
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(state.range(1)), 440);
  const std::vector<std::int32_t> last{static_cast<std::int32_t>(tokens.size()) - 1};
  const SequenceStep steps[] = {{.tokens = tokens, .window = &window, .logits_at = last}};
  for (auto _ : state) benchmark::DoNotOptimize(model.decode(steps, cache));
}

// First argument: 0 for float32, 1 for bfloat16.
BENCHMARK(encode)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cross_kv)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(step)->ArgsProduct({{0, 1}, {1, 5, 8}})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(prefill)->ArgsProduct({{0, 1}, {4, 224}})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
