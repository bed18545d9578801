#include "profile/pipeline_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <thread>

#include "support/environment.h"
#include "support/scoped_recording.h"
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
  EXPECT_EQ(tuner.history().begun, (ThreadSettings{{"wait", 1}}));
  EXPECT_EQ(tuner.history().changes.back().threads, tuned->now);
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

TEST_F(PipelineTunerTimed, RecordedRunIsTunedAsAnyOther) {
  const std::string file = (folder_.path() / "recording.json").string();
  const ScopedRecording recording({.recording = file});
  PipelineTuner tuner(plan());
  EXPECT_EQ(run(tuner, 600), in_order(600));
  const auto tuned = tuner.stop();
  ASSERT_TRUE(tuned);
  EXPECT_TRUE(tuned->has_changed());
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

/// `count` items of one second each, one after the other, whose threads were set at those moments: to 2, 3, ...
RunRecording settled(int count, const std::vector<int>& changed_ms) {
  RunRecording recording{.command = "test", .elapsed = Seconds(count)};
  const auto items = static_cast<std::size_t>(count);
  recording.stages.push_back({.name = "wait", .items = std::vector<Seconds>(items, Seconds(1))});
  recording.lengths.assign(items, 7);
  std::vector<Clock::Instant> ends;
  for (int i = 1; i <= count; ++i) ends.push_back(Clock::Instant{} + std::chrono::seconds(i));
  ThreadHistory history{.begun = {{"wait", 1}}};
  for (const int at : changed_ms)
    history.changes.push_back(
        {Clock::Instant{} + std::chrono::milliseconds(at), {{"wait", 2 + static_cast<int>(history.changes.size())}}});
  return settled_part(recording, ends, history);
}

TEST(SettledPart, OnlyItemsThatBeganWithTheLastThreadsRemain) {
  const auto changed = settled(12, {1500, 2500});
  EXPECT_EQ(changed.stages[0].items.size(), 9U) << "the third was under way";
  EXPECT_EQ(changed.lengths.size(), 9U);
  EXPECT_EQ(changed.stages[0].threads, 3);
  EXPECT_NEAR(changed.elapsed.count(), 9, 1e-6);
  EXPECT_EQ(changed.settling.items, 3U);
  EXPECT_NEAR(changed.settling.elapsed.count(), 3, 1e-6);
}

TEST(SettledPart, LongerPartIsTakenWhereFewItemsFollowTheLastChange) {
  const auto changed = settled(30, {4500, 25500});
  EXPECT_EQ(changed.stages[0].items.size(), 20U);
  EXPECT_EQ(changed.stages[0].threads, 2);
  EXPECT_NEAR(changed.elapsed.count(), 20.5, 1e-6);
  EXPECT_EQ(changed.settling.items, 10U);
}

TEST(SettledPart, ManyThreadsNeedAsManyItemsTwice) {
  RunRecording recording{.command = "test", .elapsed = Seconds(30)};
  recording.stages.push_back({.name = "wait", .items = std::vector<Seconds>(30, Seconds(1))});
  std::vector<Clock::Instant> ends;
  for (int i = 1; i <= 30; ++i) ends.push_back(Clock::Instant{} + std::chrono::seconds(i));
  const ThreadHistory history{{{"wait", 1}}, {{Clock::Instant{} + std::chrono::seconds(10), {{"wait", 20}}}}};
  EXPECT_EQ(settled_part(recording, ends, history).stages[0].threads, 1) << "the last are one item a thread";
}

TEST(SettledPart, RunWithoutAChangeIsAllOfIt) {
  EXPECT_EQ(settled(12, {}).stages[0].items.size(), 12U);
  EXPECT_EQ(settled(12, {}).settling.items, 0U);
}

}  // namespace
}  // namespace tutti
