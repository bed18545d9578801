// A set of note 003's geometry made of 400 recordings (10 s at 4,096 Hz), beside a plain loop that reads the same WAV
// files and computes the same features on as many threads, and keeps them: no checks of the audio, no checksums, no
// groups, nothing written. Both in turn. `percent_of_plain`: the rate of the first over that of the second, by
// processor time; `percent_by_clock`: by the clock, which other work on the machine disturbs. `files` is a rate.
#include <benchmark/benchmark.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "audio/synth/audio_file.h"
#include "base/clock.h"
#include "base/random/counter_random.h"
#include "cpu_seconds.h"
#include "feed/labelled/set_builder.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 400, kSensors = 8;

/// Recordings with the note's names, under two labels.
struct Recordings {
  Recordings() {
    const auto samples = static_cast<std::size_t>(leak_geometry().clip_samples);
    for (int i = 0; i < kFiles; ++i) {
      CounterRandom random({7, static_cast<std::uint64_t>(i)});
      std::vector<std::int16_t> pcm(samples);
      for (auto& sample : pcm) sample = static_cast<std::int16_t>(random.bits32() >> 20);
      const auto label = folder / (i % 2 ? "LEAK" : "NORMAL");
      fs::create_directories(label);
      files.push_back(label / ("S" + std::to_string(i / 2 % kSensors) + "~R" + std::to_string(i) + "~20250314~60.wav"));
      if (!write_audio(files.back(), pcm, AudioFormat::wav, leak_geometry().mel.rate))
        throw std::runtime_error("a recording could not be written");
    }
  }

  TempFolder folder{};
  std::vector<fs::path> files{};
};

int cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// What something took, of the clock and of the processor.
struct Taken {
  template <class Work>
  explicit Taken(Work&& work) {
    const auto start = Clock::real().now();
    const auto before = cpu_seconds();
    work();
    processor = Seconds(cpu_seconds() - before);
    clock = Clock::real().now() - start;
  }

  Seconds clock{};
  Seconds processor{};
};

void prepare(const Recordings& recordings) {
  const TempFolder out;
  const auto built = build_labelled_set({.data = recordings.folder.path(), .out = out / "set", .threads = cores()},
                                        [](std::int64_t, std::int64_t) { return true; });
  if (!built || built->used != kFiles) throw std::runtime_error("the set was not made of all files");
}

void compute_plainly(const Recordings& recordings) {
  constexpr std::size_t kHeader = 44;
  const ClipFeatureMaker maker(leak_geometry());
  std::vector<std::vector<std::uint16_t>> kept(recordings.files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < kept.size(); i = next++) {
      std::ifstream file(recordings.files[i], std::ios::binary);
      std::vector<std::int16_t> pcm((fs::file_size(recordings.files[i]) - kHeader) / sizeof(std::int16_t));
      file.seekg(kHeader).read(reinterpret_cast<char*>(pcm.data()),
                               static_cast<std::streamsize>(pcm.size() * sizeof(std::int16_t)));
      std::vector<float> samples(pcm.size());
      for (std::size_t k = 0; k < pcm.size(); ++k) samples[k] = static_cast<float>(pcm[k]) / 32768;
      kept[i] = maker.compute(samples).mel;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < cores(); ++i) threads.emplace_back(work);
  }
  benchmark::DoNotOptimize(kept.data());
}

void note_set(benchmark::State& state) {
  static const Recordings recordings;
  Seconds ours{}, plain{}, our_processor{}, plain_processor{};
  for (auto _ : state) {
    const Taken whole([] { prepare(recordings); }), bare([] { compute_plainly(recordings); });
    ours += whole.clock;
    our_processor += whole.processor;
    plain += bare.clock;
    plain_processor += bare.processor;
    state.SetIterationTime(whole.clock.count());
  }
  state.counters["files"] = benchmark::Counter(kFiles, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["percent_of_plain"] = 100 * (plain_processor / our_processor);
  state.counters["percent_by_clock"] = 100 * (plain / ours);
}

BENCHMARK(note_set)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
