// What one step costs one sequence beside the network: the logit rules, the choice and its score over 51,864 tokens.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "decode/logit_rules.h"
#include "decode/sampler.h"
#include "decode/softmax.h"

namespace {

using namespace tutti;

std::vector<float> row() {
  std::vector<float> logits(51864);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 5 * std::sin(static_cast<float>(i) * 1.7F);
  return logits;
}

/// range(0): temperature in tenths.
void rules_and_choice(benchmark::State& state) {
  const DecodingTokens tokens{.eot = 50256, .timestamp_begin = 50363, .no_timestamps = 50362, .blank = {220}};
  DecodingOptions options;
  for (std::int32_t id = 0; id < 90; ++id) options.suppress_tokens.push_back(id * 500);
  const std::vector<std::int32_t> sampled{50363, 500, 600};
  const auto logits = row();
  const auto temperature = static_cast<float>(state.range(0)) / 10;
  SampleKey key;
  auto work = logits;
  for (auto _ : state) {
    work = logits;
    apply_logit_rules(work, sampled, options, tokens);
    ++key.step;
    benchmark::DoNotOptimize(choose(work, temperature, key));
  }
}
BENCHMARK(rules_and_choice)->Arg(0)->Arg(8)->Unit(benchmark::kMicrosecond);

void log_sum(benchmark::State& state) {
  const auto logits = row();
  for (auto _ : state) benchmark::DoNotOptimize(log_sum_exp(logits));
}
BENCHMARK(log_sum)->Unit(benchmark::kMicrosecond);

}  // namespace
