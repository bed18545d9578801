#include "profile/pipeline_recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "profile/recording_file.h"
#include "support/scoped_recording.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

/// Numbers to `make`, which takes 1 ms and for every fourth 9 ms, to `write`. The one that fails does so once another
/// was written: on a busy machine it may come first.
Result<void> run_numbers(PipelineRecorder& recorder, int count, int fails_at = -1) {
  Pipeline pipeline;
  std::atomic<bool> is_written = false;
  auto numbers = pipeline.source("number", [count, next = 0]() mutable -> std::optional<Result<int>> {
    if (next == count) return std::nullopt;
    return next++;
  });
  const auto make = [&](int number) {
    return recorder.measure(0, static_cast<std::size_t>(number), [&]() -> Result<int> {
      if (number == fails_at) {
        is_written.wait(false);
        return fail(Fault::corrupt, "this one");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(number % 4 == 0 ? 9 : 1));
      return number;
    });
  };
  auto made = pipeline.map("make", std::move(numbers), make, {.threads = 3, .order = Order::input});
  pipeline.sink("write", std::move(made), [&](int number) {
    auto written = recorder.measure(1, static_cast<std::size_t>(number), [] { return Result<void>(); });
    is_written = true;
    is_written.notify_all();
    return written;
  });
  return recorder.run(pipeline);
}

class RecordedPipeline : public testing::Test {
 protected:
  /// What `tutti profile` would read of it.
  Result<RunRecording> recorded(const PipelineRecorder& recorder) {
    const auto file = folder_ / "recording.json";
    const ScopedRecording wanted({.recording = file});
    const auto sentence = recorder.conclude();
    EXPECT_TRUE(sentence) << sentence.error().text();
    return read_recording(file);
  }
  const TempFolder folder_{};
  PipelineRecorder recorder_{
      "prepare", "clips", {{.name = "make", .threads = 3, .threads_flag = "--threads"}, {.name = "write"}}};
};

TEST_F(RecordedPipeline, HasEveryItemInItsOrder) {
  ASSERT_TRUE(run_numbers(recorder_, 40));
  const auto recording = recorded(recorder_);
  ASSERT_TRUE(recording) << recording.error().text();
  ASSERT_EQ(recording->stages.size(), 2U);
  EXPECT_EQ(recording->stages[0].threads, 3);
  EXPECT_EQ(recording->stages[0].threads_flag, "--threads");
  ASSERT_EQ(recording->stages[0].items.size(), 40U);
  const auto& made = recording->stages[0].items;
  for (std::size_t i = 0; i < 40; ++i) EXPECT_GE(made[i], Seconds(i % 4 == 0 ? 0.009 : 0.001)) << i;
  EXPECT_EQ(recording->stages[1].items.size(), 40U);
  EXPECT_GT(recording->elapsed, Seconds(0.04));
}

TEST_F(RecordedPipeline, RunThatFailedKeepsWhatWasDone) {
  EXPECT_FALSE(run_numbers(recorder_, 40, 20));
  const auto recording = recorded(recorder_);
  ASSERT_TRUE(recording) << recording.error().text();
  ASSERT_EQ(recording->stages.size(), 2U);
  EXPECT_LE(recording->stages[1].items.size(), 20U);
  EXPECT_EQ(recording->stages[0].items.size(), recording->stages[1].items.size());
  // Until the last of these was done, not until the end: 20 of 40 numbers, three at a time.
  EXPECT_LT(recording->elapsed, Seconds(0.5));
}

TEST_F(RecordedPipeline, WithoutItemsThereIsNothingToRead) {
  ASSERT_TRUE(run_numbers(recorder_, 0));
  EXPECT_FALSE(recorded(recorder_));
}

}  // namespace
}  // namespace tutti
