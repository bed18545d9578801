// Batches gathered by index from a packed set, beside the same batches read sample by sample from the cache of
// features. `samples` and `MB` (of float32 features, padding included) are rates.
//  * clips: note 003's shape, many short samples in batches of 512;
//  * speech: the clips of feed_bench, in batches of 16, padded to the longest or to Whisper's window.
// Each opens a set that is packed, or a cache that is filled, already and takes an epoch of it; "lists" gives only what
// a device is to gather; "pack" is the cost of the first run.
#include <benchmark/benchmark.h>

#include <fstream>

#include "audio/samples.h"
#include "base/random/counter_random.h"
#include "public/tutti/feed.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 2, kShort = 2000;

/// A set in a folder of its own, with a cache beside it; made once.
struct BenchSet {
  explicit BenchSet(bool of_clips) {
    if (of_clips)
      write_clips();
    else
      write_speech();
  }

  /// 2,000 clips of 2 s.
  void write_clips() const {
    std::ofstream lines(folder / "set.jsonl");
    for (int i = 0; i < kShort; ++i) {
      const std::string name = std::to_string(i) + ".wav";
      CounterRandom random({7, static_cast<std::uint64_t>(i)});
      std::vector<std::int16_t> pcm(32'000);
      for (auto& sample : pcm) sample = static_cast<std::int16_t>(random.bits32() >> 20);
      write_wav(folder / name, pcm);
      lines << "{\"id\":\"" << i << "\",\"audio\":\"" << name << "\",\"text\":\"a\",\"duration\":2}\n";
    }
  }
  /// The 90 clips of human speech, each on 22 lines.
  void write_speech() const {
    std::ofstream lines(folder / "set.jsonl");
    for (const char* part : {"speech/hifitts/audio", "speech/ljspeech/wavs"})
      if (fs::exists(test_data() / part))
        for (const auto& entry : fs::directory_iterator(test_data() / part))
          for (int copy = 0; copy < 22; ++copy)
            lines << "{\"id\":\"" << entry.path().stem().string() << '_' << copy << "\",\"audio\":" << entry.path()
                  << ",\"text\":\"a\"}\n";
  }

  TempFolder folder;
};

enum class Kind { clips, bucket, window };

FeedOptions options_for(Kind kind, Residence where) {
  static const BenchSet clips(true), speech(false);
  const bool is_short = kind == Kind::clips;
  FeedOptions options;
  options.data = (is_short ? clips : speech).folder / "set.jsonl";
  options.cache.folder = (is_short ? clips : speech).folder / "cache";
  options.window = is_short ? Seconds(2) : Seconds(30);
  options.padding = kind == Kind::window ? Padding::window : Padding::bucket;
  options.batch_size = is_short ? 512 : 16;
  options.threads = FeedThreads::of(kThreads);
  options.resident.where = where;
  return options;
}

/// One epoch; false where there is nothing to feed.
bool epoch_of(const FeedOptions& options, double& samples, double& megabytes) {
  auto feed = Feed::open(options);
  if (!feed) return false;
  for (;;) {
    auto batch = feed->next();
    if (!batch) return false;
    if (!*batch) return true;
    samples += static_cast<double>((*batch)->size());
    megabytes += 4e-6 * static_cast<double>((*batch)->size() * (*batch)->n_mels * (*batch)->frames);
  }
}

void epochs(benchmark::State& state, Kind kind, Residence where) {
  const FeedOptions options = options_for(kind, where);
  double samples = 0, megabytes = 0;
  if (!epoch_of(options, samples, megabytes)) return state.SkipWithError("needs shared test data");  // fills the cache
  samples = megabytes = 0;
  for (auto _ : state)
    if (!epoch_of(options, samples, megabytes)) return state.SkipWithError("the feed failed");
  state.counters["samples"] = benchmark::Counter(samples, benchmark::Counter::kIsRate);
  state.counters["MB"] = benchmark::Counter(megabytes, benchmark::Counter::kIsRate);
}

/// Out of a cache that holds all features, as a first run with a cache that is full does it.
void pack(benchmark::State& state, Kind kind) {
  FeedOptions options = options_for(kind, Residence::stream);
  double samples = 0, megabytes = 0;
  if (!epoch_of(options, samples, megabytes)) return state.SkipWithError("needs shared test data");
  options.resident.where = Residence::mapped;
  samples = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (const auto& entry : fs::directory_iterator(options.cache.folder))
      if (entry.path().extension() == ".setpack") fs::remove(entry.path());
    state.ResumeTiming();
    auto feed = Feed::open(options);
    if (!feed) return state.SkipWithError("the feed failed");
    samples += static_cast<double>(feed->samples_per_epoch());
  }
  state.counters["samples"] = benchmark::Counter(samples, benchmark::Counter::kIsRate);
}

#define TUTTI_BESIDE(name, kind)                                                                                      \
  BENCHMARK_CAPTURE(epochs, name##_by_sample, kind, Residence::stream)->Unit(benchmark::kMillisecond)->UseRealTime(); \
  BENCHMARK_CAPTURE(epochs, name##_mapped, kind, Residence::mapped)->Unit(benchmark::kMillisecond)->UseRealTime();    \
  BENCHMARK_CAPTURE(epochs, name##_memory, kind, Residence::memory)->Unit(benchmark::kMillisecond)->UseRealTime();    \
  BENCHMARK_CAPTURE(epochs, name##_lists, kind, Residence::device)->Unit(benchmark::kMillisecond)->UseRealTime();     \
  BENCHMARK_CAPTURE(pack, name, kind)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1)
TUTTI_BESIDE(clips, Kind::clips);
TUTTI_BESIDE(speech, Kind::bucket);
TUTTI_BESIDE(speech_padded30, Kind::window);

}  // namespace
