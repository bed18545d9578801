// Two devices with a ring between them, as a voice's training has them: in a time of its own where it is about time.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <numeric>

#include "advise/recording.h"
#include "advise/replay.h"
#include "base/random/counter_random.h"
#include "feed/feature_cache.h"
#include "support/ring_time.h"
#include "train/batch_ring.h"
#include "train/report/training_recording.h"
#include "train/tts/task.h"
#include "train/voices.h"

using namespace tutti;

namespace {

struct Run {
  RingReport report{};
  TrainingRecording recording{};
  Seconds elapsed{};
};

/// Makes batches ready on one device, and steps on the other.
Run run(const std::vector<Seconds>& preparing, const std::vector<Seconds>& stepping, int slots) {
  RingTime time(slots, preparing);
  std::int64_t next = 0;
  DeviceRing ring(
      [&]() -> Result<std::optional<Batch>> {
        if (next == std::ssize(preparing)) {
          time.reader_ends();
          return std::nullopt;
        }
        Batch batch;
        batch.index = next++;
        time.reader_requests();
        return batch;
      },
      time, {.depth = slots, .most_depth = slots, .clock = &time});
  Run made;
  const auto begun = time.now();
  for (std::size_t step = 0; step < stepping.size(); ++step) {
    const auto before = time.now();
    time.consumer_requests();
    const auto slot = ring.next();
    EXPECT_TRUE(slot && *slot);
    const auto ready = time.now();
    time.step(stepping[step]);
    made.recording.note({.stepping = time.now() - ready, .waited = ready - before, .ended = time.now()},
                        (*slot)->times());
  }
  made.elapsed = time.now() - begun;
  time.consumer_requests();
  EXPECT_FALSE(*ring.next());
  made.report = ring.report();
  return made;
}

/// Times around a mean, up to half of it away.
std::vector<Seconds> uneven(double mean, std::uint64_t key, std::size_t count = 400) {
  CounterRandom random({key});
  std::vector<Seconds> times(count);
  for (auto& time : times) time = Seconds(mean * random.uniform(0.5, 1.5));
  return times;
}

/// A checksum of all values of a batch.
std::uint64_t checksum_of(const TaskBatch& batch) {
  std::vector<std::uint64_t> sums;
  for (const auto& input : batch.inputs) {
    const auto whole = input.contiguous();
    sums.push_back(checksum(std::span(static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes())));
  }
  return checksum(std::as_bytes(std::span(sums)));
}

}  // namespace

TEST(TwoDevices, OneSlotTakesTheSumAndMoreTakeTheLongerStage) {
  for (const double preparing : {0.02, 0.05}) {
    constexpr double kStep = 0.03;
    const std::vector<Seconds> data(200, Seconds(preparing)), steps(200, Seconds(kStep));
    const auto a_step = [&](int slots) { return run(data, steps, slots).elapsed.count() / 200; };
    EXPECT_NEAR(a_step(1), preparing + kStep, 0.001);
    for (const int slots : {2, 3, 8}) EXPECT_NEAR(a_step(slots), std::max(preparing, kStep), 0.001) << slots;
  }
}

TEST(TwoDevices, BusyShareIsThatOfTheReplay) {
  for (const double preparing : {0.01, 0.025, 0.03, 0.06})
    for (const int ring_depth : {1, 2, 3, 8}) {
      const auto made = run(uneven(preparing, 1), uneven(0.03, 2), ring_depth + 1);
      auto report = made.report;
      report.depth = ring_depth;
      const auto replayed = replay(model_of(made.recording.recording(std::nullopt, report)), {.items = 400});
      const double busy = report.utilisation(), expected = replayed.stages.back().busy;
      if (ring_depth == 1)  // a replay has one batch in its queue at least, so two ahead
        EXPECT_LE(busy, expected + 0.02) << preparing << " s";
      else
        EXPECT_NEAR(busy, expected, 0.02) << preparing << " s, ring of " << ring_depth;
    }
}

TEST(TwoDevices, BatchesInTheRingKeepTheirChecksums) {
  auto recipe = small_voice_recipe();
  recipe.data.gpu = "cpu";
  recipe.augmentation.speed_share = recipe.augmentation.noise_share = recipe.augmentation.room_share = 0.5;
  const auto& voices = Voices::get();
  const auto task = TtsTask::start(recipe, {voices.set, voices.waveforms}).value();
  const auto batch = [](std::int64_t index) {
    return Batch{.index = index, .epoch = index / 3, .content = SetRows{index % 9, (index + 4) % 9, (index + 7) % 9}};
  };
  constexpr std::int64_t kBatches = 24;
  for (const int depth : {1, 3}) {
    std::int64_t next = 0;
    BatchRing ring(*task,
                   [&]() -> Result<std::optional<Batch>> {
                     if (next == kBatches) return std::nullopt;
                     return batch(next++);
                   },
                   {.depth = depth, .most_depth = depth});
    std::optional<RingBatch> held;
    std::uint64_t held_sum = 0;
    for (std::int64_t i = 0; i < kBatches; ++i) {
      auto taken = ring.next();
      ASSERT_TRUE(taken && *taken);
      const auto sum = checksum_of((*taken)->rows);
      EXPECT_EQ(sum, checksum_of(task->prepare(batch(i)))) << i;
      if (held) {
        EXPECT_EQ(checksum_of(held->rows), held_sum) << "others were made ready meanwhile";
      }
      held = std::move(**taken);
      held_sum = sum;
    }
  }
}
