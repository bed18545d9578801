// What a batch accepts as a recording, and what its report contains for recordings and devices.

#include <gmock/gmock.h>

#include <sstream>

#include "support/scripted_machine.h"
#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

class BatchRecordsTest : public BatchTest {};

}  // namespace

TEST_F(BatchRecordsTest, AMissingRecordingFailsAtOnceAndAnAddressOfFtpIsRefused) {
  ASSERT_TRUE(write_file_atomically(folder_ / "list.txt", (in_ / "mistyped.wav").string() + "\n"));
  const auto end = batch("emulated:200x", {(folder_ / "list.txt").string()});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  for (const auto& asset : reported["assets"]) EXPECT_EQ(asset["attempts"], 1) << asset.dump();
  const auto refused = batch("emulated:200x", {"ftp://example.org/talk.mp3"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("ftp://example.org/talk.mp3"));
}

TEST_F(BatchRecordsTest, ReportHasListFieldsOfRecordingsDoneEarlier) {
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

TEST_F(BatchRecordsTest, ManifestAssetsLeftOutAreReported) {
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

TEST_F(BatchRecordsTest, TruncatedRecordingIsReportedInLogSummaryAndReport) {
  fs::resize_file(recording(3), fs::file_size(recording(3)) / 2);
  const auto end = batch("emulated:200x");
  EXPECT_EQ(end.exit_code, 0) << "it is transcribed as far as it goes: " << end.err;
  EXPECT_THAT(end.err, HasSubstr("r3.wav: at 00:00:07.4: the file is truncated"));
  EXPECT_THAT(end.err + end.out, HasSubstr("Truncated or damaged: 1."));
  json reported = report();
  for (auto& asset : reported["assets"]) {
    const bool is_damaged = asset["name"].get<std::string>().ends_with("r3.wav");
    EXPECT_EQ(asset["losses"].size(), is_damaged ? 1U : 0U) << asset.dump();
  }
}

TEST_F(BatchRecordsTest, RecordingsWithoutSpeechAreNoAudioThatADeviceHasDone) {
  for (int i = 0; i < kRecordings; ++i) write_tone(recording(i), 3 + 4 * (i % 5), 0);  // of no pitch: silence
  const auto end = batch("emulated:40x:12GB");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  EXPECT_EQ(reported["devices"][0]["audio_seconds"], 0);
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

TEST_F(BatchRecordsTest, PlanCountsTranscribedAudioAndCopiesHaveNoComparison) {
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

TEST_F(BatchRecordsTest, LostDeviceReportsEnergyUpToItsLoss) {
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
  const auto reported =
      run_program({kTutti, "history", "--run", "1", "--json", "--state", (folder_ / "state").string()});
  std::string kinds;
  const json history = json::parse(reported.out);
  for (const auto& event : history["events"]) kinds += event["kind"].get<std::string>() + " ";
  EXPECT_THAT(kinds, HasSubstr("quarantined")) << end.err;
}

TEST_F(BatchRecordsTest, OnlyTheNotePolicyHasFiveJobsPerDevice) {
  const auto end = batch("emulated:200x", {"--policy", "note"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("/5 tasks"));
}

TEST_F(BatchRecordsTest, InteractiveRecordingsRunByEarliestDeadline) {
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
    const std::size_t at = end.err.find("Processing: " + name);
    ASSERT_NE(at, std::string::npos) << end.err;
    EXPECT_GT(at, last) << name << "\n" << end.err;
    last = at;
  }
}

TEST_F(BatchRecordsTest, EveryStartIsLoggedWithDeviceAndWorker) {
  const auto end =
      batch(devices("time = 0.2\n[[device]]\nuse = \"emulated:30x:12GB\"\n[[device]]\nuse = \"emulated:12x:8GB\"\n"),
            {"-t", "4"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  int starts = 0, with_tasks = 0;
  std::string next, worker;
  std::istringstream lines(end.err);
  const auto after = [](const std::string& line, const std::string& mark) {
    const auto at = line.find(mark);
    return at == std::string::npos ? std::string() : line.substr(at + mark.size());
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.find("GPU Balancer Status: ") != std::string::npos) {
      next = after(line, "-> next: ");
      if (line.find(": 1 tasks") != std::string::npos || line.find(": 2 tasks") != std::string::npos) ++with_tasks;
    }
    if (const auto thread = after(line, "Thread: "); !thread.empty()) worker = thread;
    if (const auto device = after(line, "INFO - Device: "); !device.empty()) {
      ++starts;
      EXPECT_EQ(device, next) << end.err;
      EXPECT_THAT(worker, testing::MatchesRegex("Worker-[1-4]")) << "of -t 4 there are four";
      EXPECT_NE(line.find("[" + worker), std::string::npos) << line;
    }
  }
  EXPECT_EQ(starts, kRecordings) << end.err;
  EXPECT_GT(with_tasks, 0) << "later ones find the devices at work\n" << end.err;
}

TEST_F(BatchRecordsTest, AFlagWinsOverTheVariableOfTheOtherAndVariablesAreNamed) {
  auto with = settings();
  with.emplace_back("TUTTI_DEVICE=cuda:7");
  const auto flag = run_program(words("emulated:200x:12GB"), with);
  EXPECT_EQ(flag.exit_code, 0) << flag.err;
  with.emplace_back("TUTTI_DEVICES=emulated:200x:12GB");
  const auto both = run_program({kTutti, "batch", in_.string(), "-o", (folder_ / "out").string()}, with);
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("TUTTI_DEVICE and TUTTI_DEVICES: expected one of them, found both"));
  with.emplace_back("TUTTI_PRICE=-1");
  const auto price = run_program(words("emulated:200x:12GB"), with);
  EXPECT_EQ(price.exit_code, 2);
  EXPECT_THAT(price.err, HasSubstr("TUTTI_PRICE: expected 0 or more, found -1"));
}

TEST_F(BatchRecordsTest, OutOfMemoryOnADeviceIsInLogReportAndHistory) {
  // Memory runs out when a window is opened: with two jobs in flight one is opened all along, not all ten at once.
  const auto end = batch(devices("time = 0.1\n[[device]]\nuse = \"emulated:30x:12GB\"\nfailures = [\"exhaust@0.8\"]\n"),
                         {"-t", "2"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr(": out of memory with "));
  EXPECT_THAT(end.err, HasSubstr("Out of memory on emulated:30x:12GB: 1 time; of "));
  EXPECT_EQ(report()["devices"][0]["out_of_memory"]["times"], 1);
  const auto history = run_program({kTutti, "history", "--json", "--state", (folder_ / "state").string()}, settings());
  int events = 0;
  const auto recorded = json::parse(history.out);
  for (const auto& event : recorded["events"])
    if (event["kind"] == "out_of_memory") ++events;
  EXPECT_EQ(events, 1) << history.out;
}
