// Batches of a classifier's training, as field note 003 has them: 8,192 segments of 64 mels x 1 frame, gathered by
// index from a mapped set of 400,000 segments (51 MB). `samples` is a rate. bench/peers has PyTorch's rows beside it.
//  * gather: rows copied together by index, with their labels, as the trainer takes them;
//  * step: the gathered batch through the network, forwards and backwards, and one step of the optimiser.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <optional>
#include <stdexcept>

#include "base/random/counter_random.h"
#include "device/machine.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "model/cpu/compute_team.h"
#include "support/temp_folder.h"
#include "train/classifier/task.h"
#include "train/optimiser_step/step.h"

using namespace tutti;

namespace {

constexpr std::size_t kFiles = 5000;
constexpr std::int64_t kBatch = 8192;

/// A set in the note's geometry, of noise: gathering does not look at values.
std::shared_ptr<const LabelledSet> note_set() {
  static const TempFolder folder;
  static const auto set = [] {
    const auto geometry = leak_geometry();
    const std::vector<std::string> labels{"BACKGROUND", "CRACK", "LEAK", "NORMAL", "UNCLASSIFIED"};
    std::vector<std::uint16_t> mel(static_cast<std::size_t>(geometry.values()));
    std::vector<LabelledRow> rows(kFiles);
    const auto draw = [&](std::size_t row) {
      CounterRandom random({7, row});
      for (auto& value : mel) value = static_cast<std::uint16_t>(random.bits32() & 0x3fffU);  // halves from 0 to 2
      return std::span<const std::uint16_t>(mel);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto name = "LEAK/S001~R" + std::to_string(i) + "~20250314T101502~60.wav";
      rows[i] = {name, "S001", static_cast<std::int16_t>(i % labels.size()), row_checksum(name, draw(i))};
    }
    const auto path = folder / "TRAINING_DATASET.H5";
    if (!write_labelled_part(path, {.geometry = geometry, .labels = labels, .rows = rows, .mel = draw}))
      throw std::runtime_error("the set could not be written");
    return LabelledSet::open(path).value();
  }();
  return set;
}

struct Training {
  Training() {
    set_compute_threads(0, read_cpu().cores);
    recipe.device = "cpu";
    task = ClassifierTask::start(recipe, note_set()).value();
    batches = LabelledBatches::open({.rows = note_set()->rows(), .batch_size = kBatch, .seed = 1}, "").value();
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

BENCHMARK(gather)->Name("classifier/gather")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(step)->Name("classifier/step")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
