// What it costs to read the names of a large archive before its first recording is begun.
#include <benchmark/benchmark.h>

#include <fstream>

#include "support/temp_folder.h"
#include "transcribe/inputs/inputs.h"

using namespace tutti;

namespace {

/// A list of so many recordings, none of which is there: what is named is handed on unseen.
void list(benchmark::State& state) {
  const TempFolder folder;
  {
    std::ofstream lines(folder / "list.txt");
    for (std::int64_t i = 0; i < state.range(0); ++i) lines << "/archive/talk" << i << ".mp3\n";
  }
  for (auto _ : state) {
    std::int64_t taken = 0;
    const auto read =
        read_inputs({(folder / "list.txt").string()}, {}, {[&](Input&&) { return ++taken, true; }, [](Error&&) {}});
    if (!read || taken != state.range(0)) return state.SkipWithError("the list was not read whole");
  }
}
BENCHMARK(list)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
