#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "base/json.h"
#include "support/scripted_machine.h"
#include "system/batch_runs.h"

using namespace tutti;
using nlohmann::json;
using testing::HasSubstr;

namespace {

/// Each look at a running batch takes a second or two.
template <class Holds>
bool within_some_looks(Holds holds) {
  for (int looks = 0; looks < 20; ++looks)
    if (holds()) return true;
  return false;
}

constexpr const char* kTwoCards =
    "time = 0.05\n[[device]]\nuse = \"emulated:30x:12GB\"\n[[device]]\nuse = \"emulated:12x:8GB\"\n";

}  // namespace

TEST_F(BatchTest, TranscribesATreeOnTwoCardsAndReportsEveryRecordingAndDevice) {
  const auto end = batch(devices(kTwoCards));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("GPU Balancer Status: "));
  EXPECT_THAT(end.err, HasSubstr("Progress: 10/10 (ok 10 | fail 0)"));
  const auto files = outputs();
  EXPECT_EQ(files.size(), 10U);
  EXPECT_TRUE(files.contains("talks/r1.wav.json"));
  const json reported = report();
  EXPECT_EQ(reported["total"], 10);
  EXPECT_EQ(reported["successful"], 10);
  EXPECT_EQ(reported["failed"], 0);
  ASSERT_EQ(reported["devices"].size(), 2U);
  for (const auto& device : reported["devices"]) {
    double sum = device["busy_share"].get<double>() * reported["duration_seconds"].get<double>();
    for (const auto& [reason, time] : device["idle"].items()) sum += time.get<double>();
    EXPECT_NEAR(sum, reported["duration_seconds"].get<double>(), 0.05) << device.dump();
  }
  EXPECT_EQ(reported["assets"].size(), 10U);
  for (const auto& asset : reported["assets"]) EXPECT_EQ(asset["attempts"], 1) << asset.dump();
}

TEST_F(BatchTest, TheTextDoesNotDependOnTheDevices) {
  ASSERT_EQ(batch(devices(kTwoCards)).exit_code, 0);
  const auto first = outputs();
  fs::remove_all(folder_ / "out");
  ASSERT_EQ(batch("emulated:200x:24GB").exit_code, 0);
  EXPECT_EQ(outputs(), first);
}

TEST_F(BatchTest, SecondRunRedoesOnlyMissingOrChangedRecordings) {
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  const auto first = outputs();
  const auto again = batch("emulated:200x");
  ASSERT_EQ(again.exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 0);
  EXPECT_EQ(report()["successful"], 10);
  EXPECT_THAT(again.err, testing::Not(HasSubstr("What helps")));

  fs::remove(folder_ / "out" / "r0.wav.json");
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 1);
  EXPECT_EQ(outputs(), first);

  write_tone(recording(1), 9, 1000);
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 1);
  EXPECT_NE(outputs().at("talks/r1.wav.json"), first.at("talks/r1.wav.json"));

  const auto otherwise = batch("emulated:200x", {"--initial-prompt", "another"});
  ASSERT_EQ(otherwise.exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 10) << "other options, other transcripts";
  EXPECT_THAT(otherwise.err, HasSubstr("requested in another way: 10. They are done again"));
  EXPECT_THAT(again.err, testing::Not(HasSubstr("done again")));
}

TEST_F(BatchTest, WhereNothingIsLeftToDoNoDeviceIsWaitedFor) {
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(batch(devices("[[device]]\nuse = \"emulated:200x\"\nwarm-up = 100\n")).exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
  EXPECT_EQ(report()["successful"], 10);
}

TEST_F(BatchTest, TheSameRecordingTwiceIsDoneOnce) {
  fs::copy_file(recording(4), in_ / "again.wav");
  const auto end = batch("emulated:200x");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("the same recording as one before"));
  EXPECT_EQ(outputs().at("again.wav.json"), outputs().at("r4.wav.json"));
}

TEST_F(BatchTest, DamagedRecordingFailsAloneAndIsRetriedOnRequest) {
  ASSERT_TRUE(write_file_atomically(in_ / "noise.wav", "this is not audio"));
  const auto end = batch("emulated:200x");
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_EQ(report()["failed"], 1);
  EXPECT_EQ(report()["successful"], 10);
  const json reported = report();
  for (const auto& asset : reported["assets"]) {
    if (asset["status"] == "failed")
      EXPECT_EQ(asset["tries"][0]["class"], "permanent") << asset.dump();
    else
      EXPECT_FALSE(asset.contains("tries"));
  }
  const std::vector<std::string> history{kTutti, "history", "--run", "1", "--state", (folder_ / "state").string()};
  EXPECT_THAT(run_program(history).out, HasSubstr("as of now: 10 done, 1 failed"));
  write_tone(in_ / "noise.wav", 5, 900);
  EXPECT_EQ(batch("emulated:200x").exit_code, 0) << "the audio has changed";
}

TEST_F(BatchTest, WorkersThatDieHangGarbleOrRunOutOfMemoryLoseNothing) {
  const auto undisturbed = [&] {
    EXPECT_EQ(batch("emulated:200x").exit_code, 0);
    return outputs();
  }();
  fs::remove_all(folder_ / "out");
  // By the real clock, so that a machine with other work to do does not start the workers after their faults.
  const auto end = batch(devices(R"(
[[device]]
use = "emulated:5x:12GB"
[[device]]
use = "emulated:5x:12GB"
failures = ["die@2"]
[[device]]
use = "emulated:5x:12GB"
failures = ["hang@2.5"]
[[device]]
use = "emulated:5x:12GB"
failures = ["garble@3"]
[[device]]
use = "emulated:5x:12GB"
failures = ["exhaust@1.5"]
)"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(outputs(), undisturbed);
  std::int64_t restarts = 0;
  const json reported = report();
  for (const auto& device : reported["devices"]) restarts += device["restarts"].get<std::int64_t>();
  EXPECT_GE(restarts, 2) << end.err;
}

TEST_F(BatchTest, StalledDevicesWindowsRunElsewhereAndReportFault) {
  const auto undisturbed = [&] {
    EXPECT_EQ(batch("emulated:200x").exit_code, 0);
    return outputs();
  }();
  fs::remove_all(folder_ / "out");
  fs::remove_all(folder_ / "state");
  // Half a minute of the heaviest windows is the least that a worker is waited for: 12 s of this GPU.
  const auto end = batch(devices(R"(
[[device]]
use = "emulated:10x:12GB"
name = "well"
[[device]]
use = "emulated:40x:12GB"
name = "stalls"
slots = 2
failures = ["stall@1.5"]
)"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(outputs(), undisturbed);
  EXPECT_THAT(end.err, HasSubstr("stalls: no window has come back for"));
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  EXPECT_EQ(reported["devices"][0]["idle"].value("fault", 0.0), 0);
  EXPECT_GE(reported["devices"][0]["idle"].value("waiting_for_stalled", 0.0), 4) << reported["devices"].dump();
  EXPECT_EQ(reported["devices"][0]["restarts"], 0);
  EXPECT_GE(reported["devices"][1]["idle"].value("fault", 0.0), 10) << reported["devices"].dump();
  EXPECT_EQ(reported["devices"][1]["restarts"], 1);
  for (const auto& asset : reported["assets"])
    EXPECT_EQ(asset["attempts"], 1) << "a window that moves is no new attempt";
}

TEST_F(BatchTest, ALostCardGetsNothingMoreAndComesBackAfterACanary) {
  const auto end = batch(devices(R"(
[[device]]
use = "emulated:7x:12GB"
name = "stays"
[[device]]
use = "emulated:7x:12GB"
name = "leaves"
failures = ["lost@2+1"]
)"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("leaves: is back; a canary window decides"));
  EXPECT_EQ(report()["successful"], 10);
}

TEST_F(BatchTest, ACardThatIsDeadWhileItsDriverCallsItIdleGetsNothingMore) {
  const ScriptedMachine machine(
      "gpu uuid=GPU-a bus=0000:01:00.0 cc=8.9 total=24000000000 util=0 name=A\n"
      "gpu uuid=GPU-b bus=0000:02:00.0 cc=8.9 total=24000000000 util=0 name=B\n");
  const auto end = batch(devices(R"(
[[device]]
use = "emulated:8x:12GB@GPU-a"
name = "works"
[[device]]
use = "emulated:40x:12GB@GPU-b"
name = "lies"
failures = ["lost@1.5"]
)"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  EXPECT_EQ(reported["devices"][1]["state"], "lost");
  EXPECT_GT(reported["devices"][1]["idle"].value("fault", 0.0), 3) << reported["devices"].dump();
  EXPECT_GT(reported["devices"][0]["busy_share"], 0.5) << reported["devices"].dump();
}

TEST_F(BatchTest, AllCardsLostAndBackOnlyTakesLonger) {
  // For nearly two seconds: what a busy machine starts late finds its GPU lost, not back already.
  const auto end = batch(devices(R"(
time = 0.15
[[device]]
use = "emulated:4x:12GB"
count = 2
failures = ["lost@6+12"]
)"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("emulated:4x:12GB: is back; a canary window decides"));
  EXPECT_THAT(end.err, HasSubstr("emulated:4x:12GB#2: is back; a canary window decides"));
  EXPECT_EQ(report()["successful"], 10);
}

TEST_F(BatchTest, JobsStayQueuedWhenEveryDeviceIsLost) {
  const auto end = batch(devices("time = 0.1\n[[device]]\nuse = \"emulated:2x:12GB\"\nfailures = [\"lost@4\"]\n"),
                         {"--device-patience", "10"});
  EXPECT_TRUE(end.exit_code == 3 || end.exit_code == 4) << end.exit_code << end.err;
  EXPECT_THAT(end.err, HasSubstr("no device has been in service for 10 s"));
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  EXPECT_EQ(report()["successful"], 10);
  EXPECT_EQ(outputs().size(), 10U);
}

TEST_F(BatchTest, SigtermKeepsFinishedWorkAndTheNextRunResumes) {
  RunningProgram running(words(devices("time = 0.2\n[[device]]\nuse = \"emulated:4x:12GB\"\n")), settings());
  ASSERT_TRUE(running.saw("Progress: 1/"));
  ::kill(running.pid(), SIGTERM);
  const auto end = running.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  const auto kept = outputs();
  EXPECT_GE(kept.size(), 1U);
  EXPECT_LT(kept.size(), 10U);
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  EXPECT_EQ(outputs().size(), 10U);
  EXPECT_EQ(report()["done_in_this_run"], 10 - kept.size());
}

TEST_F(BatchTest, ABatchThatWasStoppedForAWhileDoesNotBlameItsDevices) {
  RunningProgram running(words(devices("time = 0.04\n[[device]]\nuse = \"emulated:2x:12GB\"\nslots = 1\n")),
                         settings());
  ASSERT_TRUE(running.saw("Progress: 1/"));
  ::kill(running.pid(), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(4));  // longer than all that is in flight may take
  ::kill(running.pid(), SIGCONT);
  const auto end = running.wait();
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, testing::Not(HasSubstr("no window has come back")));
}

TEST_F(BatchTest, DevicesIdledByJobLimitReportCapAndNotInput) {
  const auto end = batch(devices(kTwoCards), {"-t", "1"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  double cap = 0, input = 0;
  const json reported = report();
  for (const auto& device : reported["devices"]) {
    cap += device["idle"].value("cap", 0.0);
    input += device["idle"].value("waiting_for_input", 0.0);
  }
  EXPECT_GT(cap, input) << reported["devices"].dump();
}

TEST_F(BatchTest, ASequentialFileStaysOnOneDevice) {
  write_tone(in_ / "long.wav", 150, 500);  // of several windows
  write_tone(in_ / "longer.wav", 180, 520);
  auto sequential = words(devices(kTwoCards), {"--sequential", "--max-per-gpu", "2"});
  std::erase(sequential, "--vad-method");
  std::erase(sequential, "energy");
  const auto end = run_program(sequential, settings());
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const json reported = report();
  EXPECT_EQ(reported["successful"], 12);
  std::map<std::string, double> whole;  // of the recordings that a device is reported to have done
  for (const auto& asset : reported["assets"])
    whole[asset["device"].get<std::string>()] += asset["audio_seconds"].get<double>();
  EXPECT_EQ(whole.size(), 2U) << reported["assets"].dump();
  for (const auto& device : reported["devices"])
    EXPECT_NEAR(device["audio_seconds"].get<double>(), whole[device["id"].get<std::string>()], 0.01) << reported.dump();
}

TEST_F(BatchTest, ForeignMemoryIsRespectedAndUsedOnceFreed) {
  constexpr const char* kCard = "gpu uuid=GPU-a bus=0000:01:00.0 cc=8.9 total=12000000000 reserved=400000000 name=A\n";
  const ScriptedMachine machine(std::string(kCard) + "process gpu=GPU-a pid=1 memory=7000000000\n");
  RunningProgram running(words("emulated:4x:12GB@GPU-a"), settings());
  json run;
  const auto card = [&]() -> json {
    const auto reported = run_program({kTutti, "top", "--json"}, settings());
    const json top = json::parse(reported.out, nullptr, false);
    run = top.is_object() && top.contains("run") ? top["run"] : json::object();
    return run.contains("devices") ? run["devices"][0] : json::object();
  };
  json squeezed;
  ASSERT_TRUE(within_some_looks([&] { return (squeezed = card()).value("windows", 0) > 0; }));
  EXPECT_FALSE(run["in_work"].empty());
  for (const auto& task : run["in_work"]) EXPECT_TRUE(task.contains("device") || task.contains("waiting_for")) << task;
  EXPECT_EQ(squeezed["most_windows"], 1) << squeezed.dump() << ": 12 GB less 5 %, the model, and 7.4 that are others'";
  EXPECT_LE(squeezed["windows"], 1);
  machine.now(kCard);
  EXPECT_TRUE(within_some_looks([&] { return card().value("windows", 0) > 1; }));
  EXPECT_NEAR(run.value("audio_total_seconds", 0.0), 110, 1) << run.dump();
  EXPECT_EQ(run.value("state_folder", ""), folder_ / "state");
  const auto end = running.wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(report()["successful"], 10);
}

TEST_F(BatchTest, HistoryListsTheDeviceEventsOfARun) {
  const auto end = batch(devices(R"(
[[device]]
use = "emulated:6x:12GB"
name = "stays"
[[device]]
use = "emulated:6x:12GB"
name = "dies"
failures = ["die@2"]
)"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto reported =
      run_program({kTutti, "history", "--run", "1", "--json", "--state", (folder_ / "state").string()});
  const json history = json::parse(reported.out);
  std::string kinds;
  for (const auto& event : history["events"]) {
    EXPECT_EQ(event["run"], 1);
    EXPECT_EQ(event["device"], "dies") << event.dump();
    EXPECT_FALSE(event["text"].get<std::string>().empty());
    kinds += event["kind"].get<std::string>() + " ";
  }
  EXPECT_THAT(kinds, HasSubstr("suspect")) << "its worker was killed";
  EXPECT_EQ(run_program({kTutti, "history", "--run", "9", "--state", (folder_ / "state").string()}).exit_code, 2);
}

TEST_F(BatchTest, TheReportComparesTimeAndCostWithWhatWasExpectedAtItsStart) {
  const auto end = batch(devices("time = 0.2\n[[device]]\nuse = \"emulated:4x:12GB\"\n"), {"--price", "0.5"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Expected: 1:50 of audio in 0:2"));
  EXPECT_THAT(end.err, HasSubstr("Against the plan: "));
  const json reported = report();
  EXPECT_NEAR(reported["quoted"]["duration_seconds"].get<double>(), 110 / 4.0, 0.5);
  EXPECT_NEAR(reported["quoted"]["cost"].get<double>(), 0.5 * 110 / 4 / 3600, 0.001);
  std::set<std::string> ids;
  double cost = 0;
  for (const auto& asset : reported["assets"]) {
    ids.insert(asset["uuid"].get<std::string>());
    EXPECT_EQ(asset["uuid"].get<std::string>().size(), 36U);
    EXPECT_NEAR(asset["speed"].get<double>(), 4, 1) << asset.dump();
    cost += asset["cost"].get<double>();
  }
  EXPECT_EQ(ids.size(), 10U);
  EXPECT_LE(cost, reported["cost"].get<double>());
  EXPECT_GT(reported["end_time"].get<std::string>(), reported["start_time"].get<std::string>());
}

TEST_F(BatchTest, InvalidFlagsAreRefused) {
  const auto refused = [&](std::vector<std::string> more) { return batch("emulated:200x", std::move(more)); };
  EXPECT_THAT(refused({"--max-per-gpu", "7=2"}).err, HasSubstr("no device of this run is named so"));
  EXPECT_EQ(refused({"--max-per-gpu", "0"}).exit_code, 2);
  for (const char* flag : {"--price", "--threads", "--skip", "--device-patience"})
    EXPECT_EQ(refused({flag, "-1"}).exit_code, 2) << flag;
  EXPECT_THAT(refused({"-d", "cuda:0"}).err, HasSubstr("expected one of them"));
  EXPECT_THAT(refused({"--policy", "best"}).err, HasSubstr("round_robin"));
}

TEST_F(BatchTest, TuningAndRememberedThreadsChangeNoTranscript) {
  const auto run = [&](const std::string& flag) {
    fs::remove_all(folder_ / "out");
    fs::remove_all(folder_ / "state");
    const auto end = batch("emulated:800x:24GB", {"-f", "srt", flag});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    return outputs();
  };
  int written = kRecordings;
  const auto write_until = [&](int count) {
    for (; written < count; ++written) write_tone(recording(written), 2, 100 + written);
  };
  write_until(40);
  const auto untuned = run("--no-tune");
  EXPECT_FALSE(report().contains("tuning"));
  EXPECT_EQ(untuned.size(), 40U);
  std::map<std::string, std::string> tuned;
  for (const int count : {100, 200, 400, 800}) {  // until there are enough for its threads to settle
    write_until(count);
    tuned = run("--memory=64GiB");
    ASSERT_TRUE(report().contains("tuning")) << report();
    if (report()["tuning"]["settled"]) break;
  }
  ASSERT_TRUE(report()["tuning"]["settled"]) << report()["tuning"];
  json known = report()["tuning"]["threads"];
  for (auto& threads : known) threads = threads.get<int>() + 2;
  for (const auto& entry : fs::directory_iterator(folder_ / "cache/tuning")) {
    auto kept = json::parse(read_file(entry.path()).value());
    kept["threads"] = known;
    ASSERT_TRUE(write_file_atomically(entry.path(), kept.dump()));
  }
  EXPECT_EQ(run("--memory=64GiB"), tuned);
  EXPECT_EQ(report()["tuning"]["threads_before"], known) << "it begins with what an earlier batch has remembered";
  for (const auto& [name, text] : untuned) EXPECT_EQ(tuned.at(name), text) << name;
}

TEST_F(BatchTest, TheHistoryKeepsTheCommandAsItWasTyped) {
  const std::string root = folder_ / "my talks";
  ASSERT_EQ(batch("emulated:200x", {"--audio-root", root}).exit_code, 0);
  const auto reported = run_program({kTutti, "history", "--json", "--state", (folder_ / "state").string()});
  const std::string command = json::parse(reported.out)["runs"][0]["command"];
  EXPECT_THAT(command, testing::StartsWith("tutti batch " + in_.string() + " --output-dir "));
  EXPECT_THAT(command, HasSubstr(" --devices emulated:200x "));
  EXPECT_THAT(command, HasSubstr(" --audio-root '" + root + "'"));
}

TEST_F(BatchTest, ExperimentalOverridesDeviceWithAWarning) {
  const auto end = batch("emulated:200x", {"-d", "cuda:0", "--experimental"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("-d cuda:0 has no effect"));
}
