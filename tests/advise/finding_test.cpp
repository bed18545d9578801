#include "advise/finding.h"

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
  auto recording = one_stage(items, 2);
  EXPECT_TRUE(side_causes(recording, {}).empty()) << "of lengths that are not known";
  recording.lengths.assign(11, 3);
  EXPECT_TRUE(side_causes(recording, {}).empty()) << "the long item is no longer than others";
  recording.lengths.back() = 30;
  const auto causes = side_causes(recording, {});
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

/// Reads of 0.1 s each before steps of 0.05 s on the processor, on a machine of two cores.
RunRecording read_and_step(double read, double step) {
  RunRecording recording{.command = "train", .unit = "steps", .cores = 2};
  const auto add = [&](const char* name, StageResource resource, const char* flag, double item) {
    recording.stages.push_back({.name = name,
                                .resource = resource,
                                .queue = 3,
                                .threads_flag = flag,
                                .times = {.busy = Seconds(100 * item)},
                                .items = std::vector<Seconds>(100, Seconds(item))});
  };
  add("read", StageResource::io, "--read-threads", read);
  add("step", StageResource::device, "--compute-threads", step);
  recording.stages.back().on_processor = true;
  recording.stages.front().queue_flag = "--ring-depth";
  recording.elapsed = Seconds(100 * std::max(read, step) + std::min(read, step));
  return recording;
}

RunFinding finding(const RunRecording& recording, const MachineEvidence& evidence) {
  return finding_of(recording, diagnose(recording), side_causes(recording, evidence));
}

/// Two busy loops have the cores half of the time.
constexpr MachineEvidence kBusy{.other_cores = 1.9, .cores = 2, .core_wait = 0.5, .wanted_cores = 1.5};

TEST(Finding, SlowReaderIsNamedWithItsThreads) {
  const auto found = finding(read_and_step(0.1, 0.05), {});
  EXPECT_EQ(found.cause, Cause::source);
  EXPECT_FALSE(found.beside);
  ASSERT_TRUE(found.advice);
  EXPECT_EQ(found.advice->changes[0].text(), "read.threads=2");
}

TEST(Finding, SlowReaderIsNamedBesideOtherProgramsToo) {
  const auto found = finding(read_and_step(0.1, 0.05), kBusy);
  EXPECT_EQ(found.cause, Cause::source) << "reading waits for no core";
  EXPECT_EQ(found.advice->changes[0].stage, "read");
}

TEST(Finding, StepsThatWaitForCoresOfOthersNameThose) {
  const auto found = finding(read_and_step(0.01, 0.1), kBusy);
  EXPECT_EQ(found.cause, Cause::other_processes);
  ASSERT_TRUE(found.beside);
  EXPECT_NEAR(found.beside->gain, 1, 0.02) << "of the steps' time half was waiting";
  EXPECT_EQ(found.beside->of, 2);
  EXPECT_FALSE(found.advice) << "no flag helps";
}

TEST(Finding, OtherProgramsThatLeaveCoresAreNoFinding) {
  const auto found =
      finding(read_and_step(0.01, 0.1), {.other_cores = 1, .cores = 8, .core_wait = 0.01, .wanted_cores = 1});
  EXPECT_EQ(found.cause, Cause::device_compute);
}

TEST(Finding, WaitsForTheRunsOwnThreadsAreNotThoseOfOthers) {
  const auto recording = read_and_step(0.01, 0.1);
  const auto causes = side_causes(recording, {.other_cores = 0.25, .cores = 2, .core_wait = 0.5, .wanted_cores = 4});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_NEAR(causes[0].core_wait, 0.5 * 0.25 / 2.25, 1e-9);
}

TEST(Finding, UnexplainedRunNamesWhatCostAFifthOfTheTime) {
  auto recording = read_and_step(0.01, 0.1);
  recording.elapsed = Seconds(20);
  EXPECT_EQ(finding(recording, {}).cause, Cause::unknown);
  EXPECT_EQ(finding(recording, kBusy).cause, Cause::other_processes);
  EXPECT_EQ(finding(recording, {.memory_stall = 0.4}).cause, Cause::memory_pressure);
}

TEST(Finding, SlowFilesAreTheFindingWhereTheirOrderGainsMost) {
  auto recording = read_and_step(0.01, 0.1);
  recording.held_up = 0.5 * recording.elapsed;
  EXPECT_EQ(finding(recording, {}).cause, Cause::slow_files);
}

}  // namespace
}  // namespace tutti
