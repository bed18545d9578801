// The feed against a plain loop of the same parts: 1,980 clips of human speech (mean 4.2 s, a third at 22.05 kHz) to
// batches of log-mel. `clips` is the rate, `cpu_ms` processor time a clip. "loop" has no order, no queues, no batches'
// order to keep, no bad samples: it is what the parts cost.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "audio/clip/clip.h"
#include "audio/mel/log_mel.h"
#include "base/files.h"
#include "cpu_seconds.h"
#include "feed/source/dataset.h"
#include "feed/stages/pcm.h"
#include "public/tutti/feed.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

constexpr int kCopies = 22, kThreads = 2, kBatch = 16;

void run_or_die(const std::string& command) {
  if (std::system(command.c_str()) != 0) std::abort();
}

/// Copies of the 90 clips in one format; made once and kept in the temporary folder. Empty without the shared data.
fs::path corpus(const std::string& format) {
  const fs::path folder = fs::temp_directory_path() / ("tutti-feed-bench-" + format), done = folder / "manifest.jsonl";
  if (fs::exists(done)) return done;
  std::vector<fs::path> clips;
  for (const char* part : {"speech/hifitts/audio", "speech/ljspeech/wavs"}) {
    if (!fs::exists(test_data() / part)) return {};
    for (const auto& entry : fs::directory_iterator(test_data() / part)) clips.push_back(entry.path());
  }
  fs::create_directories(folder);
  std::string lines;
  for (const fs::path& clip : clips)
    for (int copy = 0; copy < kCopies; ++copy) {
      const std::string name = clip.stem().string() + "_" + std::to_string(copy) + "." + format;
      if (copy > 0)
        fs::copy_file(folder / (clip.stem().string() + "_0." + format), folder / name,
                      fs::copy_options::overwrite_existing);
      else if (format == "wav")
        fs::copy_file(clip, folder / name, fs::copy_options::overwrite_existing);
      else
        run_or_die("ffmpeg -v error -y -i '" + clip.string() + "' '" + (folder / name).string() + "'");
      lines += "{\"id\":\"" + name + "\",\"audio\":\"" + name + "\",\"text\":\"a\"}\n";
    }
  if (!write_file_atomically(done, lines)) std::abort();
  return done;
}

void report(benchmark::State& state, std::int64_t clips, double cpu) {
  state.counters["clips"] = benchmark::Counter(static_cast<double>(clips), benchmark::Counter::kIsRate);
  state.counters["cpu_ms"] = 1000 * cpu / static_cast<double>(clips);
}

void feed(benchmark::State& state, const std::string& format, Padding padding) {
  const fs::path data = corpus(format);
  if (data.empty()) return state.SkipWithError("needs shared test data and ffmpeg");
  FeedOptions options;
  options.data = data;
  options.padding = padding;
  options.batch_size = kBatch;
  options.threads = FeedThreads::of(kThreads);
  std::int64_t clips = 0;
  const double before = cpu_seconds();
  for (auto _ : state) {
    auto opened = Feed::open(options);
    if (!opened) std::abort();
    for (;;) {
      auto batch = opened->next();
      if (!batch) std::abort();
      if (!*batch) break;
      clips += (*batch)->size();
    }
    state.counters["padding"] = opened->report().padding_share();
    if (opened->report().bad_samples > 0) std::abort();
  }
  report(state, clips, cpu_seconds() - before);
}

void loop(benchmark::State& state, const std::string& format, Padding padding) {
  const fs::path data = corpus(format);
  if (data.empty()) return state.SkipWithError("needs shared test data and ffmpeg");
  const auto set = *open_dataset(data, "", {});
  const LogMel log_mel(80);
  std::int64_t clips = 0;
  const double before = cpu_seconds();
  for (auto _ : state) {
    std::atomic<std::int64_t> next = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        ClipResampler resampler;
        std::vector<float> batch(static_cast<std::size_t>(kBatch) * 80 * 3000);
        for (std::int64_t at = next++; at < set->size(); at = next++) {
          const auto line = set->at(at);
          const auto content = read_file(line->audio);
          MemoryBytes bytes(std::as_bytes(std::span(*content)));
          const auto pcm = resampler.convert(*decode_clip(bytes));
          const std::int64_t frames = std::min<std::int64_t>(std::ssize(*pcm) / 160 + 3, 3000);
          const std::int64_t width = padding == Padding::window ? 3000 : frames;
          float* row = batch.data() + at % kBatch * 80 * width;
          const auto silence = log_mel.window_into(PcmSamples(*pcm), 0, frames, row, width);
          for (std::int64_t bin = 0; bin < 80; ++bin)
            std::fill(row + bin * width + frames, row + (bin + 1) * width, *silence);
        }
      });
    for (auto& thread : threads) thread.join();
    clips += set->size();
  }
  report(state, clips, cpu_seconds() - before);
}

void time_to_first_batch(benchmark::State& state, const fs::path& data) {
  FeedOptions options;
  options.data = data;
  options.threads = FeedThreads::of(kThreads);
  for (auto _ : state) {
    auto opened = Feed::open(options);
    if (!opened || !opened->next()) std::abort();
    state.PauseTiming();
    { const Feed ended = std::move(*opened); }
    state.ResumeTiming();
  }
}

/// From opening a warm set to its first batch.
void first_batch(benchmark::State& state) {
  const fs::path data = corpus("wav");
  if (data.empty()) return state.SkipWithError("needs shared test data");
  time_to_first_batch(state, data);
}

/// The same clips on a million lines that claim no lengths: the lines are indexed, a few of them read.
void first_batch_of_a_million_lines(benchmark::State& state) {
  const fs::path data = corpus("wav");
  if (data.empty()) return state.SkipWithError("needs shared test data");
  const TempFolder folder;
  std::ofstream lines(folder / "manifest.jsonl");
  const auto set = *open_dataset(data, "", {});
  for (std::int64_t i = 0; i < 1'000'000; ++i)
    lines << "{\"id\":\"" << i << "\",\"audio\":" << set->at(i % set->size())->audio << ",\"text\":\"a\"}\n";
  lines.close();
  time_to_first_batch(state, folder / "manifest.jsonl");
}

#define TUTTI_SIDE_BY_SIDE(name, format, padding)                                                              \
  BENCHMARK_CAPTURE(feed, name, format, padding)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2); \
  BENCHMARK_CAPTURE(loop, name, format, padding)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2)
TUTTI_SIDE_BY_SIDE(wav, "wav", Padding::bucket);
TUTTI_SIDE_BY_SIDE(flac, "flac", Padding::bucket);
TUTTI_SIDE_BY_SIDE(mp3, "mp3", Padding::bucket);
TUTTI_SIDE_BY_SIDE(padded30, "wav", Padding::window);
BENCHMARK(first_batch)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);
BENCHMARK(first_batch_of_a_million_lines)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

}  // namespace
