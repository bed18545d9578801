// A voice's training on two devices, two cores here: spectrograms of changed clips on one, steps on the other, and the
// ring between them. `stages` measures both alone, one behind the other on their cores; `ring` has 1, 2, 3 or 8 slots.
// Counters: ms of a step, of both stages as the ring ran them, their sum and the longer one; the model device's busy
// share, and with 3 slots and more the replay's.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>
#include <sched.h>

#include <cmath>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"
#include "advise/replay.h"
#include "base/clock.h"
#include "feed/ring/ring.h"
#include "feed/voice/clip_maker.h"
#include "feed/voice/voice_writer.h"
#include "model/compute_device.h"
#include "support/temp_folder.h"
#include "train/optimiser_step/step.h"
#include "train/report/training_recording.h"
#include "train/tts/task.h"

using namespace tutti;

namespace {

constexpr std::int64_t kClips = 64, kSteps = 40, kRows = 16;
constexpr int kFewestReplayed = 2;  // slots

/// Clips of 2 to 5 s, with waveforms.
VoiceData voices() {
  static const TempFolder folder;
  const ClipMaker maker(usual_voice_mel(Hertz{22050}), {});
  auto writer = VoiceSetWriter::create(folder / "set", maker.mel().options(), /*waveforms=*/true).value();
  for (std::int64_t clip = 0; clip < kClips; ++clip) {
    std::vector<float> audio(static_cast<std::size_t>(44100 + 1050 * clip));
    for (std::size_t i = 0; i < audio.size(); ++i)
      audio[i] =
          static_cast<float>(0.2 * std::sin(0.03 * static_cast<double>(i * (1 + static_cast<std::size_t>(clip) % 5))));
    auto made = maker.features(std::move(audio), std::to_string(clip));
    made.symbols.assign(static_cast<std::size_t>(30 + clip), 1);
    if (!writer->append(made)) std::abort();
  }
  if (!writer->publish({.symbols = {"_", "a"}, .speakers = {"ann"}}, "front end")) std::abort();
  VoiceData data{.set = VoiceSet::open(folder / "set").value()};
  data.waveforms = std::make_shared<const VoiceWaveforms>(VoiceWaveforms::open(folder / "set", *data.set).value());
  data.buckets = std::make_shared<const VoiceBuckets>(*data.set, kRows, 1 / 0.9);
  return data;
}

/// "cpu:N" of the first cores of this process; the first twice where there is one.
std::vector<std::string> two_cores() {
  static const auto cores = [] {
    cpu_set_t set;
    std::vector<std::string> found;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) std::abort();
    for (int core = 0; core < CPU_SETSIZE && found.size() < 2; ++core)
      if (CPU_ISSET(core, &set)) found.push_back("cpu:" + std::to_string(core));
    found.resize(2, found.front());
    return found;
  }();
  return cores;
}

struct Training {
  VoiceData data = voices();
  std::unique_ptr<TtsTask> task{};
  std::unique_ptr<TrainStep> step{};
  std::int64_t number = 0;

  Training() {
    const TtsRecipe recipe{.data = {.gpu = two_cores()[0]},
                           .augmentation = {.speed_share = 0.5, .noise_share = 0.5, .room_share = 0.5},
                           .network = {.width = 96, .encoder_layers = 2, .decoder_width = 96, .decoder_layers = 3},
                           .arithmetic = {.device = two_cores()[1]}};
    task = TtsTask::start(recipe, data).value();
    step = std::make_unique<TrainStep>(*task, AdamWOptions{}, StepOptions{});
    use_cores(task->cores());
  }

  Batch batch(std::int64_t index) const {
    Batch made;
    made.index = index;
    made.epoch = index / data.buckets->batches();
    made.content = data.buckets->rows_of(index % data.buckets->batches(), static_cast<std::uint64_t>(made.epoch));
    return made;
  }
  void take_step(const TaskBatch& batch) { step->run(std::span(&batch, 1), ++number, 1e-4); }

  static Training& get() {
    static Training training;
    return training;
  }
};

double seconds_since(Clock::Instant begin) {
  return Seconds(Clock::real().now() - begin).count();
}

/// The slots of the task's batches.
class Slots final : public RingDevice {
 public:
  Slots(Training& training, int slots) : training_(training), rows_(static_cast<std::size_t>(slots)) {}
  Result<void> begin_transfer(std::size_t slot, const Batch& batch) override {
    if (!entered_) use_cores(training_.task->data_stage().cores);
    entered_ = true;
    rows_[slot] = training_.task->prepare(batch);
    return {};
  }
  void use(std::size_t) override {}
  void release(std::size_t) override {}
  const TaskBatch& rows(std::size_t slot) const { return rows_[slot]; }

 private:
  Training& training_;
  std::vector<TaskBatch> rows_;
  bool entered_ = false;
};

void set_counters(benchmark::State& state, double step, double preparing, double stepping) {
  state.counters["step_ms"] = 1e3 * step;
  state.counters["data_ms"] = 1e3 * preparing;
  state.counters["model_ms"] = 1e3 * stepping;
  state.counters["sum_ms"] = 1e3 * (preparing + stepping);
  state.counters["longer_ms"] = 1e3 * std::max(preparing, stepping);
}

void ring(benchmark::State& state) {
  auto& training = Training::get();
  const auto slots = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Slots device(training, slots);
    std::int64_t next = 0;
    DeviceRing batches(
        [&]() -> Result<std::optional<Batch>> {
          if (next == kSteps) return std::nullopt;
          return training.batch(next++);
        },
        device, {.depth = slots, .most_depth = slots});
    TrainingRecording recording;
    auto begun = Clock::real().now();
    RingReport first;
    for (std::int64_t i = 0; i < kSteps; ++i) {
      const auto before = Clock::real().now();
      const auto slot = batches.next();
      if (!slot || !*slot) std::abort();
      const auto ready = Clock::real().now();
      training.take_step(device.rows((*slot)->index()));
      if (i == 0) {  // the first is the start
        begun = Clock::real().now();
        first = batches.report();
        continue;
      }
      recording.note({.stepping = Clock::real().now() - ready, .waited = ready - before}, (*slot)->times());
    }
    const double a_step = seconds_since(begun) / (kSteps - 1);
    auto report = batches.report().since(first);
    report.depth = std::max(1, slots - 1);
    const auto made = static_cast<double>(kSteps - 1);
    set_counters(state, a_step, report.transferring.count() / made, recording.stepping().count() / made);
    const auto busy = recording.stepping() / (recording.stepping() + recording.waiting());
    state.counters["busy"] = busy;
    if (slots <= kFewestReplayed) continue;  // a replay always has a batch in the making and one behind it
    const auto model = model_of(recording.recording(std::nullopt, report));
    state.counters["replayed_busy"] = replay(model, {.items = 40 * (kSteps - 1)}).stages.back().busy;
  }
}

void stages(benchmark::State& state) {
  auto& training = Training::get();
  double preparing = 0, stepping = 0;
  for (auto _ : state)
    for (std::int64_t i = 0; i < kSteps; ++i) {
      auto begun = Clock::real().now();
      const auto rows = std::async(std::launch::async, [&] {
                          use_cores(training.task->data_stage().cores);
                          return training.task->prepare(training.batch(i));
                        }).get();
      preparing += seconds_since(begun) / kSteps;
      begun = Clock::real().now();
      training.take_step(rows);
      stepping += seconds_since(begun) / kSteps;
    }
  const auto runs = static_cast<double>(state.iterations());
  set_counters(state, (preparing + stepping) / runs, preparing / runs, stepping / runs);
}

BENCHMARK(stages)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
BENCHMARK(ring)->Arg(1)->Arg(2)->Arg(3)->Arg(8)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

}  // namespace
