#include "transcribe/prefetch.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "transcribe/run_stages.h"

namespace tutti {
namespace {

constexpr std::int64_t kShare = 8, kLeast = 64 << 20;

bool is_in_memory(const std::string& folder) {
  struct statfs facts {};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

}  // namespace

std::size_t LookAhead::bytes_of(const Recording& recording) const {
  return samples_in_memory ? static_cast<std::size_t>(recording.samples()) * sizeof(std::int16_t) : 0;
}

std::size_t LookAhead::bytes_of(const DecodedFile& file) const {
  return file.speech.size() * sizeof(float) + bytes_of(file.recording);
}

std::size_t LookAhead::bytes_of(const Work& work) const {
  if (const auto* whole = std::get_if<SequentialFile>(&work)) return bytes_of(whole->decoded);
  const auto& audio = std::get<ChunkWork>(work).audio;
  if (const auto* pcm = std::get_if<std::vector<float>>(&audio)) return pcm->size() * sizeof(float);
  const auto& mel = std::get<ChunkMel>(audio);
  return static_cast<std::size_t>(mel.frames() * mel.n_mels()) * sizeof(float);
}

LookAhead look_ahead(const std::optional<MemoryFacts>& memory, bool samples_in_memory) {
  LookAhead ahead{.samples_in_memory = samples_in_memory};
  if (!memory) return ahead;
  const auto budget = static_cast<std::size_t>(std::max(kLeast, memory->available.value / kShare));
  ahead.decoded = budget / 4;
  ahead.prepared = budget / 2;
  return ahead;
}

LookAhead look_ahead() {
  return look_ahead(read_memory(), is_in_memory(temporary_folder()));
}

namespace {

// Seconds of audio that a core does a second, half to two thirds of what was measured on cores of 2021: decoding
// (`tutti features`: 600 and more), with the check sum of the file; Silero (audio_vad_bench: 1,000 promised); log-mel
// (audio_mel_bench: 7,500 promised).
constexpr double kDecodes = 400, kDetects = 800, kPrepares = 5000;
constexpr int kUsually = 4;  // threads that begin together, so that many short recordings do not queue

int needed(double speed, double by_one, int least, int cores) {
  const double threads = std::ceil(speed / by_one);
  return std::clamp(threads < cores ? static_cast<int>(threads) : cores, std::min(least, cores), cores);
}

}  // namespace

AudioThreads AudioThreads::at_least(const AudioThreads& other) const {
  return {std::max(decode, other.decode), std::max(detect, other.detect), std::max(prepare, other.prepare)};
}

AudioThreads audio_threads(int cores, double speed) {
  cores = std::max(1, cores);
  return {needed(speed, kDecodes, kUsually, cores), needed(speed, kDetects, kUsually, cores),
          needed(speed, kPrepares, 1, cores)};
}

Result<void> set_audio_threads(Pipeline& pipeline, const AudioThreads& threads, bool detects_speech) {
  if (auto set = pipeline.set_threads(kDecodeStage, threads.decode); !set) return set;
  if (detects_speech)
    if (auto set = pipeline.set_threads(kSpeechStage, threads.detect); !set) return set;
  return pipeline.set_threads(kPrepareStage, threads.prepare);
}

}  // namespace tutti
