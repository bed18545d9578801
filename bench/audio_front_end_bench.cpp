// The whole front end on one core, its child process included: a FLAC file of ten minutes of speech, 44.1 kHz stereo or
// 16 kHz mono, is decoded and converted, its speech found and packed, and the features of the packed speech computed,
// with the pass for their maximum. The time is processor time, so that what other programs do beside it counts little.
#include <benchmark/benchmark.h>
#include <sndfile.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "audio/decode_child.h"
#include "audio/mel/log_mel.h"
#include "audio/vad/packing.h"
#include "base/program_paths.h"
#include "cpu_seconds.h"

using namespace tutti;

namespace {

constexpr std::int64_t kSeconds = 600, kWindowFrames = 3000;

/// Our own samples of speech, one after the other, a pause of a second behind each, until ten minutes are full.
std::vector<std::int16_t> speech() {
  std::vector<std::int16_t> clips, all;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TUTTI_SOURCE_DIR) / "samples")) {
    const auto recording = decode_recording(file.path());
    if (!recording) continue;  // a text beside the clips
    std::vector<std::int16_t> clip(static_cast<std::size_t>(recording->samples() + kModelRate.value));
    if (!recording->read(0, clip)) std::abort();
    clips.insert(clips.end(), clip.begin(), clip.end());
  }
  if (clips.empty()) std::abort();
  while (std::ssize(all) < kSeconds * kModelRate.value) all.insert(all.end(), clips.begin(), clips.end());
  all.resize(kSeconds * static_cast<std::size_t>(kModelRate.value));
  return all;
}

/// At another rate by straight lines, on all channels, with a little noise that keeps FLAC from having it too easy.
std::filesystem::path write_flac(int rate, int channels) {
  const auto path = std::filesystem::temp_directory_path() / ("tutti-bench-" + std::to_string(::getpid()) + ".flac");
  SF_INFO info{.frames = 0,
               .samplerate = rate,
               .channels = channels,
               .format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
               .sections = 0,
               .seekable = 0};
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (!file) std::abort();
  const auto pcm = speech();
  std::vector<short> out;
  std::uint32_t random = 1;
  for (std::int64_t at = 0; at < kSeconds * rate; ++at) {
    const double position = static_cast<double>(at) * kModelRate.value / rate;
    const auto low = static_cast<std::size_t>(position);
    const double part = position - static_cast<double>(low);
    const double value = pcm[low] * (1 - part) + pcm[std::min(low + 1, pcm.size() - 1)] * part;
    for (int channel = 0; channel < channels; ++channel) {
      random = random * 1664525U + 1013904223U;
      out.push_back(static_cast<short>(value * 0.9 + (random >> 27)));
    }
  }
  sf_writef_short(file, out.data(), kSeconds * rate);
  sf_close(file);
  return path;
}

/// Frames of features.
Result<std::int64_t> features_of(const std::filesystem::path& path, const LogMel& log_mel) {
  const auto recording = decode_recording(path);
  if (!recording) return tl::unexpected(recording.error());
  auto pieces = find_speech(*recording, {.max_speech_duration_s = 30, .min_silence_duration_ms = 160});
  if (!pieces) return tl::unexpected(pieces.error());
  const PackedRecording packed(*recording, std::move(*pieces));
  const auto maximum = log_mel.maximum(packed);
  if (!maximum) return tl::unexpected(maximum.error());
  const std::int64_t frames = LogMel::content_frames(packed);
  for (std::int64_t first = 0; first < frames; first += kWindowFrames) {
    const auto mel = log_mel.window(packed, first, kWindowFrames, *maximum);
    if (!mel) return tl::unexpected(mel.error());
  }
  return frames;
}

void flac(benchmark::State& state, int rate, int channels) {
  const auto path = write_flac(rate, channels);
  const LogMel log_mel(80);
  double total = 0;
  for (auto _ : state) {
    const double before = cpu_seconds();
    const auto frames = features_of(path, log_mel);
    const double spent = cpu_seconds() - before;
    state.SetIterationTime(spent);
    total += spent;
    if (!frames || *frames < kSeconds * 50)
      state.SkipWithError(frames ? "too little speech" : frames.error().what.c_str());
  }
  state.counters["x_real_time_per_core"] = static_cast<double>(kSeconds * state.iterations()) / total;
  std::filesystem::remove(path);
}
BENCHMARK_CAPTURE(flac, stereo_44100, 44100, 2)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flac, mono_16000, 16000, 1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  set_program_paths(ProgramPaths::of("/proc/self/exe"));
  if (is_decode_child(argc, argv)) return decode_audio_main(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
