#include "transcribe/prefetch/audio_threads.h"

#include <algorithm>
#include <cmath>

#include "transcribe/run_stages.h"

namespace tutti {
namespace {

// Seconds of audio that a core does a second, half to two thirds of what was measured on cores of 2021: decoding
// (`tutti features`: 600 and more), with the check sum of the file; Silero (audio_vad_bench: 1,000 promised); log-mel
// (audio_mel_bench: 7,500 promised).
constexpr double kDecodes = 400, kListens = 800, kPrepares = 5000;
constexpr int kUsually = 4;  // threads that begin together, so that many short recordings do not queue

int needed(double speed, double by_one, int least, int cores) {
  const double threads = std::ceil(speed / by_one);
  return std::clamp(threads < cores ? static_cast<int>(threads) : cores, std::min(least, cores), cores);
}

}  // namespace

AudioThreads AudioThreads::at_least(const AudioThreads& other) const {
  return {std::max(decode, other.decode), std::max(listen, other.listen), std::max(prepare, other.prepare)};
}

AudioThreads audio_threads(int cores, double speed) {
  cores = std::max(1, cores);
  return {needed(speed, kDecodes, kUsually, cores), needed(speed, kListens, kUsually, cores),
          needed(speed, kPrepares, 1, cores)};
}

Result<void> set_audio_threads(Pipeline& pipeline, const AudioThreads& threads, bool listens) {
  if (auto set = pipeline.set_threads(kDecodeStage, threads.decode); !set) return set;
  if (listens)
    if (auto set = pipeline.set_threads(kListenStage, threads.listen); !set) return set;
  return pipeline.set_threads(kPrepareStage, threads.prepare);
}

}  // namespace tutti
