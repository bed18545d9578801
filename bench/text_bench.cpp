// Speed of the text room. Needs the shared test data (TUTTI_TEST_DATA); without it the tokenizer's benchmarks say so.
#include <benchmark/benchmark.h>

#include "support/test_data.h"
#include "text/generated_text.h"
#include "text/normaliser.h"
#include "text/tokenizer.h"
#include "text/wer.h"

using namespace tutti;

namespace {

std::string english(std::size_t bytes) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < bytes; ++i) text += generated_english(i);
  return text;
}

void load(benchmark::State& state, const char* file) {
  for (auto _ : state) {
    const auto tokenizer = Tokenizer::load(test_data() / file);
    if (!tokenizer) return state.SkipWithError(tokenizer.error().text().c_str());
  }
}
BENCHMARK_CAPTURE(load, english_json, "tokenizer/en/tokenizer.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, multilingual_json, "tokenizer/multilingual/tokenizer.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, large_v3_json, "tokenizer/large-v3/tokenizer.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, multilingual_tiktoken, "tokenizer/multilingual.tiktoken")->Unit(benchmark::kMillisecond);

void encode_and_decode(benchmark::State& state, bool decode) {
  const auto tokenizer = Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken");
  if (!tokenizer) return state.SkipWithError(tokenizer.error().text().c_str());
  const std::string text = english(1 << 20);
  const auto ids = tokenizer->encode(text);
  for (auto _ : state) {
    if (decode)
      benchmark::DoNotOptimize(tokenizer->decode(ids));
    else
      benchmark::DoNotOptimize(tokenizer->encode(text));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK_CAPTURE(encode_and_decode, encode, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_and_decode, decode, true)->Unit(benchmark::kMillisecond);

/// One word of a million letters: the merges must not cost squares.
void encode_one_long_word(benchmark::State& state) {
  const auto tokenizer = Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken");
  if (!tokenizer) return state.SkipWithError(tokenizer.error().text().c_str());
  const std::string text(1 << 20, 'a');
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->encode(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(encode_one_long_word)->Unit(benchmark::kMillisecond);

void normalise_english(benchmark::State& state) {
  const std::string text = english(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(tutti::normalise_english(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(normalise_english)->Arg(100)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);

/// Ten hours of talk on one line: 100,000 words, one in ten wrong.
void count_errors(benchmark::State& state, bool ways) {
  Lcg lcg(1);
  std::vector<std::int32_t> reference(static_cast<std::size_t>(state.range(0)));
  for (auto& word : reference) word = static_cast<std::int32_t>(lcg.pick(1 + lcg.pick(5000)));
  std::vector<std::int32_t> hypothesis;
  for (const auto word : reference) {
    const std::uint32_t kind = lcg.pick(30);
    if (kind == 0) continue;
    hypothesis.push_back(kind == 1 ? -1 : word);
    if (kind == 2) hypothesis.push_back(word);
  }
  for (auto _ : state) {
    if (ways)
      benchmark::DoNotOptimize(edit_counts(reference, hypothesis));
    else
      benchmark::DoNotOptimize(edit_distance(reference, hypothesis));
  }
}
BENCHMARK_CAPTURE(count_errors, distance, false)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count_errors, with_parts, true)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
