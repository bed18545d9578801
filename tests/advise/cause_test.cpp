#include "advise/cause.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

/// Items of one stage, on a machine of two cores.
RunRecording one_stage(std::vector<Seconds> items, int threads) {
  RunRecording recording{.command = "features", .cores = 2, .elapsed = Seconds(1)};
  recording.stages.push_back({.name = "decode", .threads = threads, .items = std::move(items)});
  return recording;
}

bool has(const std::vector<SideCause>& causes, Cause cause) {
  return std::ranges::find(causes, cause, &SideCause::cause) != causes.end();
}

TEST(Cause, IsNamedByTheLimitingStage) {
  EXPECT_EQ(cause_of({.stage = "decode", .share = 0.3}), Cause::audio_decoding);
  EXPECT_EQ(cause_of({.stage = "decode", .share = 0.01}), Cause::balanced);
  EXPECT_EQ(cause_of({.stage = "gpu", .resource = StageResource::device, .share = 0.3}), Cause::device_compute);
  EXPECT_EQ(cause_of({.stage = "else", .share = 0.3}), Cause::unknown);
}

TEST(Cause, QuietMachineAndEvenItemsGiveNone) {
  EXPECT_TRUE(side_causes(one_stage(std::vector<Seconds>(20, Seconds(0.1)), 2), {}).empty());
}

TEST(Cause, EachKindOfEvidenceGivesItsOwn) {
  const auto recording = one_stage(std::vector<Seconds>(20, Seconds(0.1)), 2);
  EXPECT_TRUE(has(side_causes(recording, {.other_cores = 1}), Cause::other_processes));
  EXPECT_TRUE(has(side_causes(recording, {.throttled = 0.3}), Cause::cpu_quota));
  EXPECT_TRUE(has(side_causes(recording, {.memory_stall = 0.1}), Cause::memory_pressure));
  EXPECT_TRUE(has(side_causes(recording, {.swapped_a_second = 5000}), Cause::memory_pressure));
  EXPECT_TRUE(has(side_causes(recording, {.hot = 0.1}), Cause::throttling));
}

TEST(Cause, LongItemAtTheEndIsUnequalLengths) {
  std::vector<Seconds> items(10, Seconds(0.1));
  items.push_back(Seconds(1));
  const auto causes = side_causes(one_stage(items, 2), {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].cause, Cause::unequal_lengths);
  EXPECT_NEAR(causes[0].gain, 0.5, 0.01) << "1.5 s as it is, 1 s with the long one first";
}

TEST(Cause, ThreadsBeyondTheCoresAreTooManyWhereTheyWait) {
  const auto recording = one_stage(std::vector<Seconds>(40, Seconds(0.1)), 8);
  EXPECT_TRUE(has(side_causes(recording, {.cpu_stall = 0.8}), Cause::too_many_threads));
  EXPECT_FALSE(has(side_causes(recording, {}), Cause::too_many_threads));
  EXPECT_FALSE(has(side_causes(recording, {.other_cores = 1, .cpu_stall = 0.8}), Cause::too_many_threads));
}

}  // namespace
}  // namespace tutti
