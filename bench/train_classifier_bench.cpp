// A classifier of field note 003's geometry: 8,192 segments of 64 mels x 1 frame a batch, gathered by index from a
// mapped set of 400,000 segments (51 MB). `samples` is a rate. bench/peers has PyTorch's rows beside the first two.
//  * gather: rows copied together by index, with their labels, as the trainer takes them;
//  * step: the gathered batch through the network, forwards and backwards, and one step of the optimiser;
//  * epoch: all batches of the note's set, 3,165,040 segments, gathered without a network. `percent_of_epoch`: of what
//    an epoch takes with it, by the time of a step among them. `MiB_beyond_set`: what memory grows by from before the
//    set is opened to the epoch's end, at its most, less the set's size;
//  * minute: a file of 60 s at 4,096 Hz named by models/leaks on one core, in processor time; without the time to load
//    the model.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "audio/synth/audio_file.h"
#include "base/random/counter_random.h"
#include "device/machine.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "model/cpu/compute_team.h"
#include "profile/processor_watch.h"
#include "support/temp_folder.h"
#include "train/classifier/classify.h"
#include "train/classifier/task.h"
#include "train/optimiser_step/step.h"
#include "train/optimiser_step/step_memory.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFiles = 5000, kNoteFiles = 39'563;
constexpr std::int64_t kBatch = 8192;

/// Writes a set in the note's geometry, of noise: gathering does not look at values.
void write_set(const fs::path& path, std::size_t files) {
  const auto geometry = leak_geometry();
  const std::vector<std::string> labels{"BACKGROUND", "CRACK", "LEAK", "NORMAL", "UNCLASSIFIED"};
  std::vector<std::uint16_t> mel(static_cast<std::size_t>(geometry.values()));
  std::vector<LabelledRow> rows(files);
  const auto draw = [&](std::size_t row) {
    CounterRandom random({7, row});
    for (auto& value : mel) value = static_cast<std::uint16_t>(random.bits32() & 0x3fffU);  // halves from 0 to 2
    return std::span<const std::uint16_t>(mel);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto name = "LEAK/S001~R" + std::to_string(i) + "~20250314T101502~60.wav";
    rows[i] = {name, "S001", static_cast<std::int16_t>(i % labels.size()), row_checksum(name, draw(i))};
  }
  if (!write_labelled_part(path, {.geometry = geometry, .labels = labels, .rows = rows, .mel = draw}))
    throw std::runtime_error("the set could not be written");
}

std::shared_ptr<const LabelledSet> small_set() {
  static const TempFolder folder;
  static const auto set = [] {
    write_set(folder / "TRAINING_DATASET.H5", kFiles);
    return LabelledSet::open(folder / "TRAINING_DATASET.H5").value();
  }();
  return set;
}

struct Training {
  explicit Training(std::shared_ptr<const LabelledSet> set = small_set()) {
    static const bool keeps = (keep_step_memory(), true);  // as a training on a processor does
    static_cast<void>(keeps);
    set_compute_threads(0, read_cpu().cores);
    recipe.arithmetic.device = "cpu";
    batches = LabelledBatches::open({.rows = set->rows(), .batch_size = kBatch, .seed = 1}, "").value();
    task = ClassifierTask::start(recipe, std::move(set)).value();
  }

  ClassifierRecipe recipe{};
  std::unique_ptr<ClassifierTask> task{};
  std::optional<LabelledBatches> batches{};
};

void gather(benchmark::State& state) {
  Training training;
  std::int64_t samples = 0;
  for (auto _ : state) {
    const auto batch = training.task->prepare(*training.batches->next());
    benchmark::DoNotOptimize(batch.inputs.front().const_data_ptr());
    samples += batch.targets;
  }
  state.counters["samples"] = benchmark::Counter(static_cast<double>(samples), benchmark::Counter::kIsRate);
}

void step(benchmark::State& state) {
  Training training;
  TrainStep step(*training.task, {.weight_decay = 0.01}, {.clip = 1, .seed = 1});
  std::int64_t samples = 0, number = 0;
  for (auto _ : state) {
    std::vector<TaskBatch> batch;
    batch.push_back(training.task->prepare(*training.batches->next()));
    samples += step.run(batch, ++number, 1e-3).targets;
  }
  state.counters["samples"] = benchmark::Counter(static_cast<double>(samples), benchmark::Counter::kIsRate);
}

/// A line of /proc/self/status in MiB.
double memory_of(const std::string& name) {
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  throw std::runtime_error("/proc/self/status has no " + name);
}

/// Processor time of some steps among those that an epoch has.
Seconds processor_time_of_step(Training& training) {
  constexpr int kSteps = 3;
  TrainStep step(*training.task, {.weight_decay = 0.01}, {.clip = 1, .seed = 1});
  Seconds least{1e9};
  for (int i = 1; i <= kSteps; ++i) {
    std::vector<TaskBatch> batch;
    batch.push_back(training.task->prepare(*training.batches->next()));
    const auto before = own_processor_time();
    step.run(batch, i, 1e-3);
    least = std::min(least, own_processor_time() - before);
  }
  return least;
}

void epoch(benchmark::State& state) {
  const TempFolder folder;
  write_set(folder / "TRAINING_DATASET.H5", kNoteFiles);
  const auto before = memory_of("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins again
  Training training(LabelledSet::open(folder / "TRAINING_DATASET.H5").value());
  const auto set = static_cast<double>(training.batches->rows() * 128) / (1 << 20);
  Seconds gathering{};
  std::int64_t steps = 0;
  for (auto _ : state) {
    const auto start = own_processor_time();
    for (std::int64_t rows = 0; rows < training.batches->rows(); ++steps)
      rows += training.task->prepare(*training.batches->next()).targets;
    gathering += own_processor_time() - start;
    state.SetIterationTime((own_processor_time() - start).count());
  }
  state.counters["MiB_beyond_set"] = memory_of("VmHWM") - before - set;
  const auto stepping = static_cast<double>(steps) * processor_time_of_step(training);
  state.counters["percent_of_epoch"] = 100 * (gathering / (gathering + stepping));
}

void minute(benchmark::State& state) {
  constexpr Hertz kRate{4096};
  const TempFolder folder;
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(60 * kRate.value));
  CounterRandom random({7});
  for (auto& sample : pcm) sample = static_cast<std::int16_t>(random.bits32() >> 20);
  if (!write_audio(folder / "minute.wav", pcm, AudioFormat::wav, kRate)) return state.SkipWithError("no file");
  const auto seconds_of = [&](std::vector<std::string> files) {
    const auto start = own_processor_time();
    const auto failed =
        classify_files({.model = fs::path(TUTTI_SOURCE_DIR) / "models/leaks", .files = std::move(files), .threads = 1},
                       [](const auto&, const ClassifiedFile&) {});
    if (failed.value_or(1) != 0) throw std::runtime_error("the file was not classified");
    return own_processor_time() - start;
  };
  for (auto _ : state) {
    const auto loading = seconds_of({});
    state.SetIterationTime(std::max(1e-9, (seconds_of({folder / "minute.wav"}) - loading).count()));
  }
}

BENCHMARK(gather)->Name("classifier/gather")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(step)->Name("classifier/step")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(epoch)->Name("classifier/epoch")->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);
BENCHMARK(minute)->Name("classifier/minute")->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
