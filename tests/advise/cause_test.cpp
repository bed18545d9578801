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

/// The number that a cause is found with; -1: it is not found.
double number_of(Cause cause, const RunRecording& recording, const MachineEvidence& evidence) {
  const auto causes = side_causes(recording, evidence);
  const auto found = std::ranges::find(causes, cause, &SideCause::cause);
  return found == causes.end() ? -1 : found->number;
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
  EXPECT_EQ(number_of(Cause::other_processes, recording, {.other_cores = 1}), 1);
  EXPECT_EQ(number_of(Cause::cpu_quota, recording, {.throttled_cores = 0.3}), 0.3);
  EXPECT_EQ(number_of(Cause::cpu_quota, recording, {.throttled_cores = 0.03}), -1) << "of two cores";
  EXPECT_EQ(number_of(Cause::memory_pressure, recording, {.memory_stall = 0.1}), 0.1);
  EXPECT_EQ(number_of(Cause::throttling, recording, {.hot = 0.1}), 0.1);
  const auto swapping = side_causes(recording, {.swapped_a_second = 5000});
  ASSERT_TRUE(has(swapping, Cause::memory_pressure));
  EXPECT_EQ(swapping[0].pages, 5000);
}

TEST(Cause, WaitsForABatchWhileALaterOneIsWholeAreSlowFiles) {
  auto recording = one_stage(std::vector<Seconds>(20, Seconds(0.1)), 2);
  recording.held_up = Seconds(0.2);
  const auto causes = side_causes(recording, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].cause, Cause::slow_files);
  EXPECT_DOUBLE_EQ(causes[0].number, 0.2);
  EXPECT_DOUBLE_EQ(causes[0].gain, 0.25) << "0.8 s in place of 1 s";
}

TEST(Cause, LongItemAtTheEndIsUnequalLengths) {
  std::vector<Seconds> items(10, Seconds(0.1));
  items.push_back(Seconds(1));
  const auto causes = side_causes(one_stage(items, 2), {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].cause, Cause::unequal_lengths);
  EXPECT_NEAR(causes[0].gain, 0.5, 0.01) << "1.5 s as it is, 1 s with the long one first";
}

TEST(Cause, DeviceWhoseThreadLacksACoreHasTooManyThreadsBesideIt) {
  auto recording = one_stage(std::vector<Seconds>(20, Seconds(0.1)), 1);
  recording.stages[0].resource = StageResource::device;
  recording.stages[0].times.busy = Seconds(2);
  EXPECT_TRUE(side_causes(recording, {}).empty());
  recording.stages[0].core_wait = Seconds(0.5);
  const auto causes = side_causes(recording, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].cause, Cause::too_many_threads);
  EXPECT_DOUBLE_EQ(causes[0].core_wait, 0.25);
  EXPECT_FALSE(has(side_causes(recording, {.other_cores = 1}), Cause::too_many_threads)) << "others had the cores";
}

TEST(Cause, ThreadsBeyondTheCoresAreTooManyWhereTheyWait) {
  const auto recording = one_stage(std::vector<Seconds>(40, Seconds(0.1)), 8);
  EXPECT_EQ(number_of(Cause::too_many_threads, recording, {.cpu_stall = 0.8}), 6);
  EXPECT_FALSE(has(side_causes(recording, {}), Cause::too_many_threads));
  EXPECT_FALSE(has(side_causes(recording, {.other_cores = 1, .cpu_stall = 0.8}), Cause::too_many_threads));
}

}  // namespace
}  // namespace tutti
