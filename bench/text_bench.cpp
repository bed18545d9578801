// Speed of the text module. The tokenizer's parts need the shared test data: TUTTI_TEST_DATA, else ../shared/data.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "text/error_rate.h"
#include "text/manifest/read.h"
#include "text/normaliser.h"
#include "text/tokenizer.h"

using namespace tutti;

namespace {

std::filesystem::path vocabulary(const char* file) {
  const char* named = std::getenv("TUTTI_TEST_DATA");
  return std::filesystem::path(named ? named : "../shared/data") / "tokenizer" / file;
}

/// Talk with numbers, titles and contractions in it.
std::string english(std::size_t bytes) {
  static constexpr std::string_view kSentence =
      "Mr. Smith didn't travel for two hundred and twenty-five dollars; the neighbours' colour-blind dog would've! ";
  std::string text;
  while (text.size() < bytes) text += kSentence;
  return text;
}

void count_bytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * static_cast<std::int64_t>(state.iterations()));
}

void load(benchmark::State& state, const char* file) {
  for (auto _ : state) {
    const auto tokenizer = Tokenizer::load(vocabulary(file));
    if (!tokenizer) return state.SkipWithError(tokenizer.error().text().c_str());
  }
}
BENCHMARK_CAPTURE(load, english_json, "en/tokenizer.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, multilingual_json, "multilingual/tokenizer.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, large_v3_json, "large-v3/tokenizer.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, multilingual_tiktoken, "multilingual.tiktoken")->Unit(benchmark::kMillisecond);

void encode(benchmark::State& state, const std::string& text) {
  const auto tokenizer = Tokenizer::load(vocabulary("multilingual.tiktoken"));
  if (!tokenizer) return state.SkipWithError(tokenizer.error().text().c_str());
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->encode(text));
  count_bytes(state, text);
}
BENCHMARK_CAPTURE(encode, talk, english(1 << 20))->Unit(benchmark::kMillisecond);
// The merges of one long word must not cost squares.
BENCHMARK_CAPTURE(encode, one_long_word, std::string(1 << 20, 'a'))->Unit(benchmark::kMillisecond);

void decode(benchmark::State& state) {
  const auto tokenizer = Tokenizer::load(vocabulary("multilingual.tiktoken"));
  if (!tokenizer) return state.SkipWithError(tokenizer.error().text().c_str());
  const std::string text = english(1 << 20);
  const auto ids = tokenizer->encode(text);
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->decode(ids));
  count_bytes(state, text);
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

void english_normaliser(benchmark::State& state) {
  const std::string text = english(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(normalise_english(text));
  count_bytes(state, text);
}
BENCHMARK(english_normaliser)->Arg(100)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);

/// Of note 000's manifest, until the first asset, which is the last in the text, is handed on.
void first_asset(benchmark::State& state) {
  std::string text = R"({"assets": [)";
  const std::string notes(400, 'x');
  for (std::int64_t i = 0; i < state.range(0); ++i)
    text += (i ? ",\n" : "\n") + ("{\"id\": \"" + std::to_string(i) + "\", \"name\": \"n" + std::to_string(i)) +
            R"(", "asset_type": "Audio", "folder_path": "f", "notes": ")" + notes + "\"}";
  text += "]}";
  for (auto _ : state) {
    std::string first;
    const ManifestSink one{[&](ManifestEntry&& entry) { return first = entry.path, false; }, [](Error&&) {}};
    if (!read_manifest(text, ManifestFormat::json, "m", {}, one) || first.empty())
      return state.SkipWithError("no asset was found");
  }
  count_bytes(state, text);
}
BENCHMARK(first_asset)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// Ten hours of talk on one line are 100,000 words; one in ten is wrong here.
void errors(benchmark::State& state, bool with_parts) {
  std::minstd_rand random(1);
  std::vector<std::int32_t> reference, hypothesis;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const auto word = static_cast<std::int32_t>(random() % (1 + random() % 5000));
    const auto kind = random() % 30;
    reference.push_back(word);
    if (kind != 0) hypothesis.push_back(kind == 1 ? -1 : word);
    if (kind == 2) hypothesis.push_back(word);
  }
  for (auto _ : state) {
    if (with_parts)
      benchmark::DoNotOptimize(edit_counts(reference, hypothesis));
    else
      benchmark::DoNotOptimize(edit_distance(reference, hypothesis));
  }
}
BENCHMARK_CAPTURE(errors, distance, false)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(errors, with_parts, true)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
