// Decoding a file end to end (child process, decoder, rate conversion, temporary file): how many seconds of audio one
// second of one core decodes. 44.1 kHz stereo; ten minutes, and ten seconds, where starting up counts.
#include <benchmark/benchmark.h>
#include <sndfile.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "audio/decode_child.h"
#include "audio/recording.h"
#include "base/program_paths.h"
#include "cpu_seconds.h"

using namespace tutti;

namespace {

constexpr int kRate = 44100;

/// Syllables of a tone with overtones and some noise, written by libsndfile.
std::filesystem::path write_audio(const std::string& ending, int format, int seconds) {
  const auto path =
      std::filesystem::temp_directory_path() / ("tutti-bench-" + std::to_string(::getpid()) + "." + ending);
  SF_INFO info{.frames = 0, .samplerate = kRate, .channels = 2, .format = format, .sections = 0, .seekable = 0};
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (!file) std::abort();
  std::uint32_t random = 1;
  std::vector<short> second(2 * kRate);
  for (int at = 0; at < seconds; ++at) {
    for (std::size_t i = 0; i < second.size(); ++i) {
      const double t = static_cast<double>(i / 2) / kRate;
      random = random * 1664525U + 1013904223U;
      const double voice = std::sin(900 * t) + 0.5 * std::sin(1800 * t + std::sin(30 * t)) + 0.2 * std::sin(5400 * t);
      second[i] = static_cast<short>(4000 * voice * std::abs(std::sin(12 * t)) + (random >> 24));
    }
    sf_writef_short(file, second.data(), kRate);
  }
  sf_close(file);
  return path;
}

void decode(benchmark::State& state, const std::string& ending, int format) {
  const auto seconds = static_cast<int>(state.range(0));
  const auto path = write_audio(ending, format, seconds);
  const double before = cpu_seconds();
  for (auto _ : state) {
    const auto recording = decode_recording(path);
    if (!recording) state.SkipWithError(recording.error().text().c_str());
  }
  state.counters["x_real_time_per_core"] =
      static_cast<double>(seconds) * static_cast<double>(state.iterations()) / (cpu_seconds() - before);
  std::filesystem::remove(path);
}
BENCHMARK_CAPTURE(decode, wav, "wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16)
    ->Arg(600)
    ->Arg(10)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, flac, "flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16)
    ->Arg(600)
    ->Arg(10)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, mp3, "mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III)
    ->Arg(600)
    ->Arg(10)
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  set_program_paths(ProgramPaths::of("/proc/self/exe"));
  if (is_decode_child(argc, argv)) return decode_audio_main(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
