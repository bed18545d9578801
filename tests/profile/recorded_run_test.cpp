#include "profile/recorded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "profile/recording_file.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunRecording features() {
  RunRecording recording{.command = "features", .cores = 4, .elapsed = Seconds(4.06)};
  const auto add = [&](const char* name, const char* flag, double item) {
    recording.stages.push_back({.name = name,
                                .queue = 2,
                                .threads_flag = flag,
                                .times = {.busy = Seconds(40 * item), .waiting = Seconds(4.06 - 40 * item)},
                                .items = std::vector<Seconds>(40, Seconds(item))});
  };
  add("decode", "--decode-threads", 0.1);
  add("features", "--features-threads", 0.05);
  add("print", "", 0.001);
  return recording;
}

TEST(RecordedRun, NamesTheLimitAndTheFlagToCopy) {
  const auto recording = features();
  const auto text = profile_text({recording, diagnose(recording)});
  EXPECT_THAT(text, HasSubstr("decode (cpu) limits the run"));
  EXPECT_THAT(text, HasSubstr("\nCause: audio decoding\nAdvice: decode: --decode-threads 2, predicted "));
  EXPECT_THAT(text, HasSubstr("40 files in 4.06 s"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(RecordedRun, SharesAreOfTheRunAndOfADeviceItsOwn) {
  auto recording = features();
  // Its threads ended early, so that their own clocks saw little but work.
  recording.stages[1].threads = 2;
  recording.stages[1].times = {.busy = Seconds(2), .waiting = Seconds(0.1), .blocked = Seconds(0.406)};
  recording.stages[2].resource = StageResource::device;
  recording.stages[2].threads = 10;
  const auto text = profile_text({recording, diagnose(recording)});
  EXPECT_THAT(text, HasSubstr("24.6 %   70.4 %    5.0 %")) << text;
  EXPECT_THAT(text, HasSubstr("Device busy 1.0 % of the time (print)"));
  EXPECT_THAT(text, HasSubstr(" 1.0 %   99.0 %    0.0 %")) << text;
}

TEST(RecordedRun, TwoStagesThatAreCloseAreNamedWithTheGainOfBoth) {
  auto recording = features();
  recording.stages[1].items.assign(40, Seconds(0.1));
  recording.elapsed = Seconds(4.1);
  const ProfiledRun run{recording, diagnose(recording)};
  const auto text = profile_text(run), json = profile_json(run);
  EXPECT_THAT(text, HasSubstr("No stage limits the run by itself.\nCause: none (balanced)\nAdvice: features: "
                              "--features-threads 2 and decode: --decode-threads 2 together, predicted "));
  EXPECT_THAT(json, HasSubstr("\"close\":"));
  EXPECT_THAT(json, HasSubstr("\"together\":[{\"changes\":[\"features.threads=2\",\"decode.threads=2\"]"));
}

TEST(RecordedRun, FewItemsAreCountedAndCalledFew) {
  auto recording = features();
  for (RecordedStage& stage : recording.stages) stage.items.resize(1);
  recording.unit = "batches";
  recording.elapsed = Seconds(0.151);
  const auto text = profile_text({recording, diagnose(recording)});
  EXPECT_THAT(text, HasSubstr("1 batch in 0.15 s"));
  EXPECT_THAT(text, HasSubstr("So few batches"));
}

TEST(RecordedRun, UnexplainedRunPredictsNothing) {
  auto recording = features();
  recording.elapsed = Seconds(6);
  const auto found = diagnose(recording);
  EXPECT_FALSE(found);
  EXPECT_THAT(profile_text({recording, found}), HasSubstr("nothing is predicted"));
  EXPECT_THAT(profile_json({recording, found}), HasSubstr("\"limit\":null"));
}

TEST(RecordedRun, ChangeIsTakenWithAndWithoutItsCommand) {
  const auto recording = features();
  for (const auto* text : {"decode.threads=3", "features.decode.threads=3"}) {
    const auto change = parse_flag_change(text, recording);
    ASSERT_TRUE(change) << change.error().text();
    EXPECT_EQ(flags_of(recording, *change), (std::vector<std::string>{"--decode-threads", "3"}));
  }
  EXPECT_EQ(parse_flag_change("features.threads=2", recording)->stage, "features");
}

TEST(RecordedRun, ChangeWithoutAFlagIsRefused) {
  const auto recording = features();
  for (const auto* text : {"print.threads=2", "decode.speed=2", "decode.queue=4", "cores=8"})
    EXPECT_FALSE(parse_flag_change(text, recording)) << text;
  EXPECT_THAT(parse_flag_change("decod.threads=2", recording).error().text(), HasSubstr("Did you mean 'decode'?"));
}

TEST(RecordedRun, RunEndsWithWhatLimitedItAndOneChange) {
  const auto sentence = conclude(features());
  ASSERT_TRUE(sentence) << sentence.error().text();
  EXPECT_THAT(*sentence, HasSubstr("decode (cpu) limits the run: twice as fast it would save"));
  EXPECT_THAT(*sentence, HasSubstr("; decode: --decode-threads 2 would gain"));
}

TEST(RecordedRun, ShortOrUnexplainedRunEndsWithoutASentence) {
  auto recording = features();
  recording.elapsed = Seconds(6);
  EXPECT_EQ(conclude(recording).value(), "") << "the replay takes 4.05 s";
  recording = features();
  recording.elapsed = Seconds(1);
  for (RecordedStage& stage : recording.stages) stage.items.resize(9);
  EXPECT_EQ(conclude(recording).value(), "");
  for (RecordedStage& stage : recording.stages) stage.items.clear();
  EXPECT_EQ(conclude(recording).value(), "");
}

TEST(RecordedRun, TooFewItemsEndWithoutASentence) {
  auto recording = features();
  recording.least_items = 41;
  EXPECT_EQ(conclude(recording).value(), "");
  EXPECT_THAT(conclude(recording, {.other_cores = 1, .cores = 4}).value(), StartsWith("Other programs took 1.0 of 4"));
  const MachineEvidence much{.other_cores = 3.5, .cores = 4, .core_wait = 0.5, .wanted_cores = 2};
  EXPECT_THAT(conclude(recording, much).value(), StartsWith("Other programs took 3.5 of 4"));
  EXPECT_THAT(conclude(recording, much).value(), Not(HasSubstr("predicted")));
  recording.least_items = 40;
  EXPECT_THAT(conclude(recording).value(), HasSubstr("decode (cpu) limits the run"));
}

TEST(RecordedRun, OtherProgramsComeFirstWithTheirShare) {
  const auto little = conclude(features(), {.other_cores = 1, .cores = 4}).value();
  EXPECT_THAT(little, StartsWith("Other programs took 1.0 of 4 cores meanwhile, 25.0 %\ndecode (cpu) limits the run"))
      << "the run's threads had all the cores that they could use";
  const auto much = conclude(features(), {.other_cores = 3.5, .cores = 4, .core_wait = 0.5, .wanted_cores = 2}).value();
  EXPECT_THAT(much, StartsWith("Other processes limit the run: other programs took 3.5 of 4 cores meanwhile, 87.5 %"));
  EXPECT_THAT(much, HasSubstr("Advice: run it without those programs, predicted to be "));
  EXPECT_THAT(much, Not(HasSubstr("decode"))) << "its time holds the waits for them";
}

TEST(RecordedRun, LongRunIsDiagnosedFromAnExcerpt) {
  auto recording = features();
  for (RecordedStage& stage : recording.stages) stage.items.assign(100000, stage.items[0]);
  recording.elapsed = Seconds(100000 * 0.1 + 0.05);
  EXPECT_THAT(conclude(recording).value(), HasSubstr("decode (cpu) limits the run"));
}

TEST(RecordedRun, WhatTheMachineLostIsNamedBelow) {
  const auto recording = features();
  const auto text = profile_text({recording, diagnose(recording), {{Cause::cpu_quota, 0.23}}});
  EXPECT_THAT(text, HasSubstr("CPU quota held back 0.23 cores on average\n"));
}

TEST(RecordedRun, OneAdviceAndTheRestAreMeasurements) {
  const auto recording = features();
  const ProfiledRun run{recording, diagnose(recording), {{Cause::slow_files, 0.02, 0.02}, {Cause::throttling, 0.1}}};
  const auto text = profile_text(run);
  EXPECT_EQ(text.find("--order any"), std::string::npos) << text;
  EXPECT_EQ(text.find("Advice: "), text.rfind("Advice: "));
  EXPECT_THAT(text, HasSubstr("A heat or power limit slowed the hardware down 10.0 % of the time\n"));
  EXPECT_THAT(profile_json(run), HasSubstr(R"("advice":{"text":"decode: --decode-threads 2, predicted )"));
  EXPECT_THAT(profile_json(run), HasSubstr(R"("stage":"decode","flags":["--decode-threads","2"])"));
}

TEST(RecordedRun, OtherProgramsAreTheFindingWithTheirShare) {
  const auto recording = features();
  const SideCause others{.cause = Cause::other_processes, .number = 1.9, .gain = 0.8, .core_wait = 0.45, .of = 2};
  const ProfiledRun run{recording, diagnose(recording), {others}};
  EXPECT_THAT(other_programs_text(run.causes), HasSubstr("Other programs took 1.9 of 2 cores meanwhile, 95.0 %"));
  const auto text = profile_text(run);
  EXPECT_THAT(text, HasSubstr("Other processes limit the run: other programs took 1.9 of 2 cores"));
  EXPECT_THAT(text, HasSubstr("Cause: other processes\nAdvice: run it without those programs, predicted to be 80 %"));
  EXPECT_THAT(text, HasSubstr("  Beside that: decode (cpu) limits the run"));
  EXPECT_THAT(profile_json(run), HasSubstr(R"("share":0.95)"));
}

TEST(RecordedRun, TimeBeforeItHadSettledIsNamed) {
  auto recording = features();
  recording.settling = {.elapsed = Seconds(1.25), .items = 30};
  const ProfiledRun run{recording, diagnose(recording)};
  EXPECT_THAT(profile_text(run), HasSubstr("had not settled: 30 files in 1.25 s, which are not in these figures"));
  EXPECT_THAT(profile_json(run), HasSubstr(R"("settling":{"seconds":1.25,"items":30})"));
}

TEST(RecordedRun, MemoryPressureIsShownByWhatWasMeasured) {
  const auto recording = features();
  const auto found = diagnose(recording);
  const auto text = [&](double stall, double pages) {
    return profile_text({recording, found, {{Cause::memory_pressure, stall, 0, pages}}});
  };
  EXPECT_THAT(text(0, 5000), HasSubstr("  5000 pages a second were swapped\n"));
  EXPECT_THAT(text(0.1, 0), HasSubstr("Programs waited for memory 10.0 % of the time\n"));
  EXPECT_THAT(text(0.1, 300), HasSubstr("10.0 % of the time, and 300 pages a second were swapped\n"));
  EXPECT_THAT(profile_json({recording, found, {{Cause::memory_pressure, 0, 0, 5000}}}),
              HasSubstr("\"pages_a_second\":5000.0"));
  EXPECT_THAT(profile_text({recording, found, {{Cause::slow_files, 0.2, 0.25}}}),
              HasSubstr("slow files 20.0 % of the time while later batches were whole\n"));
}

class RecordingFile : public testing::Test {
 protected:
  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "recording.json";
};

TEST_F(RecordingFile, IsReadAsItWasWritten) {
  auto written = features();
  written.held_up = Seconds(0.25);
  written.lengths = {1.5, 2};
  written.settling = {.elapsed = Seconds(3), .items = 7};
  written.stages[1].on_processor = true;
  ASSERT_TRUE(write_recording(written, file_));
  const auto read = read_recording(file_);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->command, "features");
  EXPECT_EQ(read->cores, 4);
  EXPECT_EQ(read->elapsed, written.elapsed);
  EXPECT_EQ(read->held_up, written.held_up);
  EXPECT_EQ(read->lengths, written.lengths);
  EXPECT_EQ(read->settling.elapsed, Seconds(3));
  EXPECT_EQ(read->settling.items, 7U);
  EXPECT_TRUE(read->stages[1].on_processor);
  EXPECT_FALSE(read->stages[0].on_processor);
  ASSERT_EQ(read->stages.size(), 3U);
  EXPECT_EQ(read->stages[1].items, written.stages[1].items);
  EXPECT_EQ(read->stages[1].threads_flag, "--features-threads");
  EXPECT_EQ(read->stages[2].times.waiting, written.stages[2].times.waiting);
}

TEST_F(RecordingFile, KeepsTimelineAndPhases) {
  auto written = features();
  written.timeline = {.at = {0.5, 1}, .done = {2, 5}, .stages = {{"decode", {0.5, 1}, {0, 0.5}}}};
  written.phases = StepPhases{};
  written.phases->training.times.mean = Seconds(0.1234);
  written.phases->training.share = 0.826;
  ASSERT_TRUE(write_recording(written, file_));
  const auto read = read_recording(file_);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->timeline.done, written.timeline.done);
  EXPECT_EQ(read->timeline.stages[0].queue, written.timeline.stages[0].queue);
  EXPECT_EQ(read->phases->training.times.mean, Seconds(0.1234));
  EXPECT_EQ(read->phases->training.share, 0.826);
}

TEST_F(RecordingFile, WithoutAnItemNothingWasMeasured) {
  auto recording = features();
  for (RecordedStage& stage : recording.stages) stage.items.clear();
  ASSERT_TRUE(write_recording(recording, file_));
  EXPECT_EQ(read_recording(file_).error().fault, Fault::missing);
  EXPECT_EQ(read_recording("/no/such/file").error().fault, Fault::missing);
}

TEST_F(RecordingFile, OtherContentIsCorrupt) {
  std::ofstream(file_) << "{\"command\": 3}";
  EXPECT_EQ(read_recording(file_).error().fault, Fault::corrupt);
}

}  // namespace
}  // namespace tutti
