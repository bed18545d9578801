// The parts of a Whisper network: one window's encoding, its cross keys and values, decoder steps and prefills. Random
// weights: speed does not depend on what they are.
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <optional>
#include <utility>
#include <vector>

#include "model/whisper.h"

namespace {

using namespace tutti;

WhisperDims dims_of(std::int32_t state, std::int32_t heads, std::int32_t layers) {
  return {.n_audio_state = state,
          .n_audio_head = heads,
          .n_audio_layer = layers,
          .n_vocab = 51864,
          .n_text_state = state,
          .n_text_head = heads,
          .n_text_layer = layers};
}

const WhisperDims kSizes[] = {dims_of(384, 6, 4), dims_of(512, 8, 6), dims_of(768, 12, 12)};
constexpr ComputeType::Kind kTypes[] = {ComputeType::float32, ComputeType::bfloat16, ComputeType::int8};

/// The first two arguments: tiny, base or small; float32, bfloat16 or int8. Only the newest model is kept.
const WhisperModel& model_of(const benchmark::State& state) {
  static std::optional<WhisperModel> model;
  static std::pair<std::int64_t, std::int64_t> which;
  const std::pair wanted{state.range(0), state.range(1)};
  if (!model || which != wanted) {
    model.reset();
    model.emplace(WhisperModel::random(kSizes[wanted.first], at::kCPU, kTypes[wanted.second]));
    which = wanted;
  }
  return *model;
}

at::Tensor some_mel() {
  return at::randn({80, 3000});
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

/// range(2) sequences, each on a window of its own, take one step at position 100.
void step(benchmark::State& state) {
  const auto& model = model_of(state);
  const auto batch = static_cast<std::int32_t>(state.range(2));
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

/// A prompt of range(2) tokens into an empty slot, logits of the last alone.
void prefill(benchmark::State& state) {
  const auto& model = model_of(state);
  auto cache = model.make_self_kv(1);
  const auto window = model.cross_kv(model.encode(some_mel()));
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(state.range(2)), 440);
  const std::vector<std::int32_t> last{static_cast<std::int32_t>(tokens.size()) - 1};
  const SequenceStep steps[] = {{.tokens = tokens, .window = &window, .logits_at = last}};
  for (auto _ : state) benchmark::DoNotOptimize(model.decode(steps, cache));
}

const std::vector<std::int64_t> kEverySize{0, 1, 2};
const std::vector<std::int64_t> kEveryType{0, 1, 2};
BENCHMARK(encode)->ArgsProduct({kEverySize, kEveryType})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cross_kv)->ArgsProduct({kEverySize, kEveryType})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(step)->ArgsProduct({kEverySize, kEveryType, {1, 5, 8}})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(prefill)->ArgsProduct({kEverySize, kEveryType, {4, 224}})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
