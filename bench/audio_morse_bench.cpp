// Clips of `tutti synth morse`, all conditions, written as WAV, by one thread: 5 ms a clip are 400 a second on two.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "audio/synth/audio_file.h"
#include "audio/synth/morse_clip.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

void mixed_clip(benchmark::State& state) {
  const TempFolder folder;
  const MorseCorpus corpus;
  std::int64_t index = 0;
  Seconds audio{};
  for (auto _ : state) {
    const MorseClip clip = morse_clip(corpus, index++);
    if (!write_audio(folder / (std::to_string(index % 64) + ".wav"), clip.pcm, AudioFormat::wav)) std::abort();
    audio += clip.length();
  }
  state.counters["seconds"] = benchmark::Counter(audio.count(), benchmark::Counter::kAvgIterations);
}
BENCHMARK(mixed_clip)->Unit(benchmark::kMillisecond);

}  // namespace
