#include "profile/pipeline_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <thread>

#include "support/environment.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A cache of its own, and no recording: what a run of a command has.
class PipelineTunerTimed : public testing::Test {
 protected:
  TempFolder folder_{};
  const std::string cache_ = folder_.path().string();
  ScopedVariable variable_{"TUTTI_CACHE", cache_.c_str()};

  static TuningPlan plan(bool is_open = true) {
    return {.pipeline = "test", .stages = {{"wait", StageResource::io, is_open}, {"end", StageResource::io}}};
  }

  /// So many items, each waited with for 4 ms, through a pipeline with one thread for that. Returns what came out.
  static std::vector<int> run(PipelineTuner& tuner, int items) {
    std::vector<int> out;
    Pipeline pipeline;
    auto numbers = pipeline.source("numbers", [next = 0, items]() mutable -> std::optional<Result<int>> {
      if (next == items) return std::nullopt;
      return next++;
    });
    auto waited = pipeline.map("wait", std::move(numbers),
                               [](int&& item) -> Result<int> {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(4));
                                 return std::move(item);
                               },
                               {.threads = tuner.threads_of("wait", 1), .order = Order::input, .output = {.items = 2}});
    pipeline.sink("end", std::move(waited), [&](int&& item) -> Result<void> {
      out.push_back(item);
      return {};
    });
    tuner.watch(pipeline);
    EXPECT_TRUE(pipeline.run());
    return out;
  }
  static std::vector<int> in_order(int items) {
    std::vector<int> all(static_cast<std::size_t>(items));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

TEST_F(PipelineTunerTimed, RunGetsMoreThreadsAndKeepsItsOrder) {
  PipelineTuner tuner(plan());
  constexpr int kItems = 15000;  // enough to measure the last change where all 64 threads wait at once
  EXPECT_EQ(run(tuner, kItems), in_order(kItems));
  const auto tuned = tuner.stop();
  ASSERT_TRUE(tuned);
  EXPECT_TRUE(tuned->has_changed());
  EXPECT_GE(tuned->now[0].second, 3);
  EXPECT_THAT(tuning_sentence(*tuned), HasSubstr("Threads were tuned: wait 1 -> "));
  EXPECT_TRUE(tuner.changed_at());
  PipelineTuner next(plan());
  EXPECT_GE(next.threads_of("wait", 1), 3) << "the next run begins with what had settled";
  EXPECT_EQ(next.threads_of("other", 2), 2);
}

TEST_F(PipelineTunerTimed, NothingIsSetWhereNoStageIsOpenOrNoTuningIsWanted) {
  PipelineTuner fixed(plan(false));
  EXPECT_EQ(run(fixed, 100), in_order(100));
  EXPECT_FALSE(fixed.stop());
  auto off = plan();
  off.is_on = false;
  PipelineTuner unwanted(off);
  EXPECT_EQ(run(unwanted, 100), in_order(100));
  EXPECT_FALSE(unwanted.stop());
}

TEST_F(PipelineTunerTimed, RecordedRunKeepsItsThreads) {
  const std::string file = (folder_.path() / "recording.json").string();
  const ScopedVariable recording("TUTTI_RECORDING", file.c_str());
  PipelineTuner tuner(plan());
  EXPECT_EQ(run(tuner, 100), in_order(100));
  EXPECT_FALSE(tuner.stop());
}

TEST_F(PipelineTunerTimed, DamagedOrForeignMemoryIsIgnored) {
  const TuningKey key{"a processor", "a pipeline"};
  EXPECT_FALSE(recall_tuning(key));
  remember_tuning(key, {.now = {{"wait", 3}}, .rate_now = 10});
  ASSERT_TRUE(recall_tuning(key));
  EXPECT_EQ(*recall_tuning(key), (ThreadSettings{{"wait", 3}}));
  EXPECT_FALSE(recall_tuning({"a processor", "another pipeline"}));
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "tuning")) file = entry.path();
  for (const char* text : {"", "{\"format\": 3}", "{\"format\":\"tutti tuning 1\",\"machine\":\"a processor\"",
                           R"({"format":"tutti tuning 1","machine":"a processor","pipeline":"a pipeline"})",
                           R"({"format":"tutti tuning 1","machine":"a processor","pipeline":"a pipeline",)"
                           R"("threads":{"wait":0}})",
                           R"({"format":"tutti tuning 1","machine":"other","pipeline":"a pipeline",)"
                           R"("threads":{"wait":2}})"}) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_FALSE(recall_tuning(key)) << text;
  }
}

TEST(SinceChange, OnlyItemsOfTheLastThreadsRemain) {
  RunRecording recording{.command = "test", .elapsed = Seconds(4)};
  recording.stages.push_back({.name = "wait", .items = std::vector<Seconds>(4, Seconds(1))});
  const Clock::Instant start{};
  std::vector<Clock::Instant> ends;
  for (int i = 1; i <= 4; ++i) ends.push_back(start + std::chrono::seconds(i));
  const auto changed = since_change(recording, ends, start + std::chrono::milliseconds(2500));
  EXPECT_EQ(changed.stages[0].items.size(), 2U);
  EXPECT_NEAR(changed.elapsed.count(), 1.5, 1e-9);
}

}  // namespace
}  // namespace tutti
