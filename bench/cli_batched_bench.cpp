// What --batched takes of the time in order, of whole commands: five minutes of real English with OpenAI's tiny.en in
// int8, under every set of instructions that this processor has. The largest share of all sets counts.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "base/instruction_sets.h"
#include "support/long_recording.h"
#include "support/run_program.h"

namespace tutti {
namespace {

constexpr double kSeconds = 300;

/// Seconds of one command; below 0 where it failed.
double seconds_of(const std::filesystem::path& audio, Instructions most, const std::vector<std::string>& flags) {
  const TempFolder out;
  std::vector<std::string> words{tutti_program(), "transcribe",   "--model",           real_model().string(),
                                 "--language",    "en",           "--quiet",           "--compute-type",
                                 "int8",          "--output-dir", out.path().string(), audio.string()};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto begun = std::chrono::steady_clock::now();
  const auto end = run_program(words, {"TUTTI_INSTRUCTIONS=" + std::string(name_of(most))});
  if (end.exit_code != 0) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// range(0): beams.
void batched(benchmark::State& state) {
  if (const auto absence = real_model_absence(); !absence.empty()) return state.SkipWithError(absence.c_str());
  const TempFolder folder;
  const auto audio = joined_readings(folder / "readings.wav", kSeconds).file;
  std::vector<std::string> flags{"--beam-size", state.range(0) > 1 ? std::to_string(state.range(0)) : "None"};
  double most_percent = 0;
  for (auto _ : state) {
    for (const auto set : processor_instructions().all()) {
      const double in_order = seconds_of(audio, set, flags);
      flags.emplace_back("--batched");
      const double together = seconds_of(audio, set, flags);
      flags.pop_back();
      if (in_order < 0 || together < 0) return state.SkipWithError("tutti transcribe failed");
      const double percent = 100 * together / in_order;
      state.counters["percent_" + std::string(name_of(set))] = percent;
      most_percent = std::max(most_percent, percent);
    }
  }
  state.counters["most_percent_of_in_order"] = most_percent;
}
BENCHMARK(batched)->Arg(1)->Arg(5)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace tutti
