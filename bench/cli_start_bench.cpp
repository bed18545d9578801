// The time from the start of `tutti batch` on a manifest of 100,000 recordings, all of them present, until the first is
// claimed: reading it, planning the outputs, checking the files, a store of its own.
#include <benchmark/benchmark.h>

#include <fstream>
#include <optional>

#include "support/run_program.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr int kRecordings = 100'000, kInAFolder = 1000;

/// A field note's manifest and its recordings, which are never decoded.
void write_archive(const fs::path& folder) {
  std::ofstream manifest(folder / "archive.json");
  manifest << "{\"count\":" << kRecordings << ",\"exported_at\":\"2026-01-01\",\"filter\":\"\",\"assets\":[";
  for (int i = 0; i < kRecordings; ++i) {
    const std::string parent = std::to_string(i / kInAFolder), name = std::to_string(i) + ".wav";
    if (i % kInAFolder == 0) fs::create_directories(folder / "audio" / parent);
    std::ofstream(folder / "audio" / parent / name) << "recording " << i;
    manifest << (i > 0 ? "," : "") << "{\"id\":\"id-" << i << "\",\"name\":\"talk " << i << "\",\"file_name\":\""
             << name << "\",\"asset_type\":\"Audio\",\"folder_path\":\"" << parent
             << "\",\"media_duration_seconds\":" << 60 + i * 37 % 3600 << "}";
  }
  manifest << "]}";
}

void batch_of_100000(benchmark::State& state) {
  static const TempFolder archive;
  if (!fs::exists(archive / "archive.json")) write_archive(archive.path());
  for (auto _ : state) {
    state.PauseTiming();
    std::optional<TempFolder> temporary(std::in_place);
    state.ResumeTiming();
    std::optional<RunningProgram> program(
        std::in_place,
        std::vector<std::string>{tutti_program(), "batch", archive / "archive.json", "--audio-root", archive / "audio",
                                 "--output-dir", *temporary / "out", "--state", *temporary / "state", "--devices",
                                 "emulated:30x:12GB", "--yes"},
        std::vector<std::string>{"XDG_RUNTIME_DIR=" + temporary->path().string()});
    const bool began = program->saw("Processing: ");
    state.PauseTiming();
    if (!began) state.SkipWithError(program->wait().err.c_str());
    program.reset();
    temporary.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(batch_of_100000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);

}  // namespace
}  // namespace tutti
