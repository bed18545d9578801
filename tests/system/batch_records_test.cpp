// What a batch takes for a recording, and what its report tells of each and of the devices.

#include <gmock/gmock.h>

#include "support/scripted_machine.h"
#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

class BatchRecordsTest : public BatchTest {};

}  // namespace

TEST_F(BatchRecordsTest, ARecordingThatIsNotThereFailsAtOnceAndAnAddressIsRefused) {
  ASSERT_TRUE(write_file_atomically(folder_ / "list.txt", (in_ / "mistyped.wav").string() + "\n"));
  const auto end = batch("emulated:200x", {(folder_ / "list.txt").string()});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  const json told = report();
  EXPECT_EQ(told["successful"], 10);
  for (const auto& asset : told["assets"]) EXPECT_EQ(asset["attempts"], 1) << asset.dump();
  const auto refused = batch("emulated:200x", {"https://example.org/talk.mp3"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("https://example.org/talk.mp3"));
}

TEST_F(BatchRecordsTest, WhatAListSaysOfARecordingThatIsDoneAlreadyIsInTheReport) {
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  const json line{{"path", recording(0).string()}, {"id", "talk-0"}, {"name", "First"}, {"decade", 1970}};
  ASSERT_TRUE(write_file_atomically(folder_ / "list.jsonl", line.dump() + "\n"));
  auto by_list = words("emulated:200x", {"--audio-root", in_.string()});
  by_list[2] = (folder_ / "list.jsonl").string();
  ASSERT_EQ(run_program(by_list, settings()).exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 0) << "the same output";
  EXPECT_EQ(report()["assets"][0]["uuid"], "talk-0");
  EXPECT_EQ(report()["assets"][0]["name"], "First");
  EXPECT_EQ(report()["assets"][0]["decade"], 1970);
}

TEST_F(BatchRecordsTest, WhatAManifestNamesAndTheBatchLeavesOutIsSaid) {
  json assets = json::array();
  for (const char* type : {"Audio", "Video", "Video"})
    assets.push_back({{"name", "r0.wav"}, {"asset_type", type}, {"media_duration_seconds", 3}});
  assets.push_back({{"name", "r2.wav"}, {"asset_type", "Audio"}, {"folder_path", "Resources/To Be Sorted"}});
  ASSERT_TRUE(write_file_atomically(in_ / "archive.json", json{{"count", 4}, {"assets", assets}}.dump()));
  auto by_manifest = words("emulated:200x");
  by_manifest[2] = (in_ / "archive.json").string();
  const auto end = run_program(by_manifest, settings());
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err,
              HasSubstr("Left out of what the lists name: 2 not of the type Audio, 1 in Resources/To Be Sorted"));
  EXPECT_EQ(report()["total"], 1);
}

TEST_F(BatchRecordsTest, OfATruncatedRecordingTheLogTheEndAndTheReportSayWhatIsMissing) {
  fs::resize_file(recording(3), fs::file_size(recording(3)) / 2);
  const auto end = batch("emulated:200x");
  EXPECT_EQ(end.exit_code, 0) << "it is transcribed as far as it goes: " << end.err;
  EXPECT_THAT(end.err, HasSubstr("r3.wav: at 00:00:07.4: the file is truncated"));
  EXPECT_THAT(end.err + end.out, HasSubstr("Truncated or damaged: 1."));
  json told = report();
  for (auto& asset : told["assets"]) {
    const bool is_damaged = asset["name"].get<std::string>().ends_with("r3.wav");
    EXPECT_EQ(asset["losses"].size(), is_damaged ? 1U : 0U) << asset.dump();
  }
}

TEST_F(BatchRecordsTest, RecordingsWithoutSpeechAreNoAudioThatADeviceHasDone) {
  for (int i = 0; i < kRecordings; ++i) write_tone(recording(i), 3 + 4 * (i % 5), 0);  // of no pitch: silence
  const auto end = batch("emulated:40x:12GB");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const json told = report();
  EXPECT_EQ(told["successful"], 10);
  EXPECT_EQ(told["devices"][0]["audio_seconds"], 0);
  EXPECT_THAT(end.err, testing::Not(HasSubstr("Efficiency")));
}

TEST_F(BatchRecordsTest, WhereEverythingIsDoneADeviceThatIsNotThereIsNotMissed) {
  const std::string absent = "emulated:200x:12GB@GPU-nowhere";
  const auto too_early = batch(absent);
  EXPECT_EQ(too_early.exit_code, 4) << too_early.err;
  EXPECT_FALSE(fs::exists(folder_ / "state" / "tutti.sqlite")) << "looking makes no store";
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  const auto end = batch(absent);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("All 10 recordings were done before this run"));
  EXPECT_EQ(report()["successful"], 10);
  EXPECT_EQ(report()["done_in_this_run"], 0);
  EXPECT_EQ(report()["assets"].size(), 10U);
  EXPECT_EQ(report()["assets"][0]["attempts"], 1);
  fs::remove(folder_ / "out" / "r0.wav.json");
  const auto left = batch(absent);
  EXPECT_EQ(left.exit_code, 4) << left.err;
  EXPECT_THAT(left.err, HasSubstr("GPU-nowhere"));
  EXPECT_EQ(batch(absent, {"--initial-prompt", "another"}).exit_code, 4) << "other options, other transcripts";
}

TEST_F(BatchRecordsTest, APlanCountsWhatWasTranscribedAndARunOfCopiesIsComparedWithNone) {
  const std::string card = devices("time = 0.2\n[[device]]\nuse = \"emulated:40x:12GB\"\n");
  for (int i = 0; i < kRecordings; ++i) fs::copy_file(recording(i), in_ / ("copy" + std::to_string(i) + ".wav"));
  const auto half = batch(card);
  ASSERT_EQ(half.exit_code, 0) << half.err;
  EXPECT_THAT(half.err, HasSubstr("Expected: 3:40 of audio"));
  EXPECT_EQ(report()["copied_in_this_run"], 10);
  EXPECT_NEAR(report()["quoted"]["audio_seconds"].get<double>(), 110, 0.5);
  for (int i = 0; i < kRecordings; ++i) fs::copy_file(recording(i), in_ / ("more" + std::to_string(i) + ".wav"));
  const auto all = batch(card);
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(report()["copied_in_this_run"], 10);
  EXPECT_FALSE(report().contains("quoted"));
  EXPECT_THAT(all.err, testing::AllOf(HasSubstr("All of it was copied"), testing::Not(HasSubstr("Against the plan"))));
}

TEST_F(BatchRecordsTest, OfACardThatIsLostTheReportTellsWhatItHasDrawnUntilThen) {
  constexpr const char* kCard = "gpu uuid=GPU-a bus=0000:01:00.0 cc=8.9 total=12000000000 power=100 name=A\n";
  const ScriptedMachine machine(kCard);
  RunningProgram running(words("emulated:6x:12GB@GPU-a,emulated:6x:12GB"), settings());
  ASSERT_TRUE(running.saw("Progress: 2/"));
  machine.now("");
  const auto end = running.wait();
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const double joules = report().value("energy_joules", 0.0);
  EXPECT_GT(joules, 0) << end.err;
  EXPECT_EQ(report()["devices"][0].value("energy_joules", 0.0), joules);
  EXPECT_FALSE(report()["devices"][1].contains("energy_joules"));
}

TEST_F(BatchRecordsTest, ACardThatNeedsAResetGoesIntoQuarantineAndTheOthersDoItsWork) {
  const std::string card = "gpu uuid=GPU-a bus=0000:01:00.0 cc=8.9 total=12000000000 name=A\n";
  const ScriptedMachine machine(card);
  RunningProgram running(words("emulated:6x:12GB@GPU-a,emulated:6x:12GB"), settings());
  ASSERT_TRUE(running.saw("Progress: 2/"));
  machine.now(card + "xid gpu=GPU-a code=48\n");
  const auto end = running.wait();
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(report()["successful"], 10);
  const auto told = run_program({kTutti, "history", "--run", "1", "--json", "--state", (folder_ / "state").string()});
  std::string kinds;
  const json history = json::parse(told.out);
  for (const auto& event : history["events"]) kinds += event["kind"].get<std::string>() + " ";
  EXPECT_THAT(kinds, HasSubstr("quarantined")) << end.err;
}

TEST_F(BatchRecordsTest, TheNotesPolicyAloneHasItsFiveTasksADevice) {
  const auto end = batch("emulated:200x", {"--policy", "note"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("/5 tasks"));
}

TEST_F(BatchRecordsTest, OfRecordingsThatSomebodyWaitsForTheEarliestDeadlineComesFirst) {
  const std::pair<const char*, const char*> rows[] = {
      {"whenever", ""}, {"late", "2126-01-01"}, {"soon", "2126-01-01T12:00:00+01:00"}, {"first", "2126-01-01 10:59Z"}};
  std::string list = "path,name,deadline\n";
  for (int i = 0; const auto& [name, deadline] : rows)
    list += recording(i++).string() + "," + name + "," + deadline + "\n";
  ASSERT_TRUE(write_file_atomically(folder_ / "list.csv", list));
  auto by_list = words("emulated:200x", {"-t", "1"});
  by_list[2] = (folder_ / "list.csv").string();
  const auto end = run_program(by_list, settings());
  ASSERT_EQ(end.exit_code, 0) << end.err;
  std::size_t last = 0;
  for (const std::string name : {"first", "soon", "late", "whenever"}) {
    const std::size_t at = end.err.find("Processing: " + name);  // and " (next device", if it is known by then
    ASSERT_NE(at, std::string::npos) << end.err;
    EXPECT_GT(at, last) << name << "\n" << end.err;
    last = at;
  }
}
