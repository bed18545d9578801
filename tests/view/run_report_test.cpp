#include "view/fleet/run_report.h"

#include <gmock/gmock.h>

using namespace tutti;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A device that was busy for the rest of `elapsed`.
DeviceTime device(std::string id, double speed, IdleTime idle, Seconds elapsed = Seconds(1000)) {
  const Seconds busy = elapsed - idle.sum();
  return {.id = std::move(id), .busy = busy, .idle = idle, .audio = busy * speed, .rated = speed};
}

RunNumbers run_of(std::vector<DeviceTime> devices) {
  RunNumbers run{.elapsed = Seconds(1000), .done = 40, .devices = std::move(devices)};
  for (const DeviceTime& d : run.devices) run.audio += d.audio;
  return run;
}

std::string report(const RunNumbers& run, const RunQuote& quote = {}) {
  std::string all;
  for (const auto& line : run_report(run, quote)) all += line + "\n";
  return all;
}

}  // namespace

TEST(RunReport, InputWaitNamesAudioDecodingAsLimitAndItsCost) {
  const auto run = run_of(
      {device("cuda:0", 30, {{Idle::input, Seconds(400)}}), device("cuda:1", 10, {{Idle::input, Seconds(400)}})});
  EXPECT_THAT(report(run),
              HasSubstr("Waiting for input 40 % of the time: decoding limits; without it the run ends up to "
                        "6:40 sooner"));
  ASSERT_EQ(remedies(run).size(), 1U);
  EXPECT_NEAR(remedies(run)[0].gain.count(), 400, 1e-9);
}

TEST(RunReport, IdlenessOfAFastDeviceWeighsMoreThanThatOfASlowOne) {
  const auto fast = run_of({device("cuda:0", 30, {{Idle::fault, Seconds(500)}}), device("cuda:1", 10, {})});
  const auto slow = run_of({device("cuda:0", 30, {}), device("cuda:1", 10, {{Idle::fault, Seconds(500)}})});
  EXPECT_NEAR(remedies(fast)[0].gain.count(), 375, 1e-9);
  EXPECT_NEAR(remedies(slow)[0].gain.count(), 125, 1e-9);
  EXPECT_THAT(report(fast), HasSubstr("Fault 25 % of the time: faults took devices out"));
}

TEST(RunReport, TheLargestGainComesFirst) {
  const auto run = run_of({device("cuda:0", 30, {{Idle::memory, Seconds(100)}, {Idle::starting, Seconds(300)}})});
  const auto found = remedies(run);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(text_of(found[0], run), HasSubstr("loading the model"));
  EXPECT_THAT(text_of(found[1], run), HasSubstr("memory limits"));
}

TEST(RunReport, GainNeverExceedsThePossible) {
  auto run = run_of({device("cuda:0", 10, {}), device("cuda:1", 10, {{Idle::no_job, Seconds(900)}})});
  run.shared_files = false;
  run.longest = Seconds(9000);  // 900 s on either device
  ASSERT_TRUE(lower_bound(run));
  EXPECT_NEAR(lower_bound(run)->count(), 900, 1e-9);
  EXPECT_NEAR(remedies(run)[0].gain.count(), 100, 1e-9);
}

TEST(RunReport, OneLongRecordingIsNamedWhereWholeFilesAreTheUnit) {
  auto run = run_of({device("cuda:0", 10, {}), device("cuda:1", 10, {{Idle::no_job, Seconds(600)}})});
  run.longest = Seconds(9500);
  EXPECT_THAT(report(run), AllOf(HasSubstr("No task 30 % of the time"), Not(HasSubstr("kept a device busy"))));
  run.shared_files = false;
  EXPECT_THAT(report(run), AllOf(HasSubstr("one recording of 2:38:20 kept a device busy to the end"),
                                 HasSubstr("without sequential"), HasSubstr("the longest recording alone")));
}

TEST(RunReport, LeavingTheTailToFasterDevicesIsNoFault) {
  const auto run = run_of({device("cuda:0", 30, {}), device("cuda:1", 10, {{Idle::left_to_faster, Seconds(300)}})});
  EXPECT_TRUE(remedies(run).empty());
  EXPECT_THAT(report(run), HasSubstr("left to faster devices 30 %"));
}

TEST(RunReport, BusyDevicesAreAnsweredWithMoreOfThem) {
  const auto run = run_of({device("cuda:0", 30, {{Idle::no_job, Seconds(10)}}), device("cuda:1", 10, {})});
  ASSERT_EQ(remedies(run).size(), 1U);
  EXPECT_THAT(text_of(remedies(run)[0], run), HasSubstr("Another one like cuda:0"));
  EXPECT_NEAR(remedies(run)[0].gain.count(), 1000.0 * 30 / 70, 1e-6);
}

TEST(RunReport, EfficiencyIsAgainstTheSumOfSpeeds) {
  const auto run = run_of(
      {device("cuda:0", 30, {{Idle::input, Seconds(250)}}), device("cuda:1", 10, {{Idle::input, Seconds(250)}})});
  EXPECT_NEAR(lower_bound(run)->count(), 750, 1e-9);
  EXPECT_THAT(report(run), HasSubstr("Efficiency 75 %: the same work takes these devices at least 12:30"));
}

TEST(RunReport, StoppedRunNotesThatWorkInProgressIsNotCounted) {
  auto run = run_of({device("cuda:0", 30, {})});
  EXPECT_THAT(report(run), Not(HasSubstr("stopped")));
  run.stopped = true;
  EXPECT_THAT(report(run), HasSubstr("at least 16:40; what was in work when it was stopped does not count\n"));
}

TEST(RunReport, ShareAndReasonsOfEveryDeviceAreInTheTable) {
  const auto run = run_of(
      {device("cuda:0", 30, {{Idle::input, Seconds(50)}, {Idle::fault, Seconds(120)}, {Idle::drained, Seconds(2)}})});
  EXPECT_THAT(report(run), HasSubstr("83 %"));
  EXPECT_THAT(report(run), HasSubstr("fault 12 %, waiting for input 5 %\n"));
}

TEST(RunReport, TheQuoteIsComparedAndWhatWasNotMeasuredIsNotShown) {
  auto run = run_of({device("cuda:0", 30, {})});
  EXPECT_THAT(report(run), AllOf(Not(HasSubstr("Against")), Not(HasSubstr("Spent"))));
  run.cost = 1.5;
  EXPECT_THAT(report(run), HasSubstr("Spent: cost 1.50; 0.18 per hour of audio\n"));
  run.idle_cost = 0.3;
  EXPECT_THAT(report(run), HasSubstr("0.18 per hour of audio; 20 % of it for idle devices\n"));
  run.idle_cost.reset();
  run.energy_joules = 1.512e6;
  RunQuote quote{.time = Seconds(800), .energy_joules = 1.512e6, .cost = 2.0};
  EXPECT_THAT(
      report(run, quote),
      HasSubstr("Against the plan: 16:40 instead of 13:20 (+25 %); 0.42 kWh instead of 0.42 kWh; cost 1.50 instead of "
                "2.00 (-25 %)"));
  run.cost = 0.0184;
  run.energy_joules = 15'120;
  quote = {.energy_joules = 18'000, .cost = 0.0202};
  EXPECT_THAT(report(run, quote), HasSubstr("4.2 Wh instead of 5.0 Wh (-16 %)"));
  EXPECT_THAT(report(run, quote), HasSubstr("cost 0.018 instead of 0.02 (-9 %)"))
      << "small amounts are still distinguished";
}

TEST(RunReport, TimeEqualToItsQuoteWhenShownHasNoPercentage) {
  auto run = run_of({device("cuda:0", 30, {})});
  run.elapsed = Seconds(0.4);
  EXPECT_THAT(report(run, {.time = Seconds(0.03)}),
              AllOf(HasSubstr("Against the plan: 0:00 instead of 0:00"), Not(HasSubstr("(+"))));
}

TEST(RunReport, DeviceThatDidNothingIsLeftOutOfTheBound) {
  auto run = run_of({device("cuda:0", 30, {})});
  run.devices.push_back({.id = "cuda:1", .idle = {{Idle::fault, Seconds(1000)}}});
  EXPECT_THAT(report(run), HasSubstr("at least 16:40, without cuda:1: its speed is not known\n"));
}

TEST(RunReport, WaitForAStalledDeviceIsNotCalledLackOfJobs) {
  const auto run = run_of({device("cuda:0", 30, {{Idle::stalled, Seconds(200)}}), device("cuda:1", 10, {})});
  EXPECT_THAT(report(run),
              AllOf(HasSubstr("waiting for a stalled device 20 %"),
                    HasSubstr("Waiting for a stalled device 10 % of the time: "), Not(HasSubstr("no task"))));
}

TEST(RunReport, PutOffOrPendingTimeIsNotCalledLackOfInput) {
  const auto run =
      run_of({device("cuda:0", 30, {{Idle::put_off, Seconds(300)}, {Idle::awaiting_answer, Seconds(100)}})});
  EXPECT_THAT(report(run), AllOf(HasSubstr("Put off 30 % of the time: "), HasSubstr("Waiting for an answer 10 %"),
                                 HasSubstr("yes, which asks no questions"), Not(HasSubstr("decoding"))));
}

TEST(RunReport, WaitForAnotherRunAdvisesOnlyWhatHappened) {
  auto run = run_of({device("cuda:0", 30, {{Idle::put_off, Seconds(300)}})});
  EXPECT_THAT(report(run), AllOf(HasSubstr("in work elsewhere"), Not(HasSubstr("failed and")), Not(HasSubstr("disk"))));
  run.has_retried = true;
  EXPECT_THAT(report(run), AllOf(HasSubstr("had failed and was to be tried again"), Not(HasSubstr("elsewhere"))));
}

TEST(RunReport, CopiesAreCountedAndARunOfNothingElseIsComparedWithNoPlan) {
  auto run = run_of({device("cuda:0", 30, {})});
  run.copied = 4;
  EXPECT_THAT(report(run, {.time = Seconds(800)}), AllOf(HasSubstr("40 recordings done, 4 of them copied: "),
                                                         HasSubstr("Against the plan: "), Not(HasSubstr("no plan"))));
  run.copied = 40;
  EXPECT_THAT(report(run), AllOf(HasSubstr("All of it was copied"), Not(HasSubstr("Against the plan"))));
}

TEST(RunReport, WhereNothingWasDoneNothingWouldHaveHelped) {
  auto run = run_of({device("cuda:0", 30, {{Idle::no_job, Seconds(900)}, {Idle::starting, Seconds(100)}})});
  run.done = 0;
  run.devices[0].audio = run.audio = Seconds(0);
  EXPECT_TRUE(remedies(run).empty());
  EXPECT_THAT(report(run), AllOf(HasSubstr("no task 90 %"), Not(HasSubstr("helps")), Not(HasSubstr("Efficiency"))));
}

TEST(RunReport, ARunThatDidNothingIsALine) {
  EXPECT_EQ(run_report({}).size(), 1U);
  RunNumbers lost{.elapsed = Seconds(60), .failed = 3};
  lost.devices = {{.id = "cuda:0", .idle = {{Idle::fault, Seconds(60)}}}};
  EXPECT_THAT(report(lost), AllOf(HasSubstr("3 failed"), HasSubstr("faults took devices out. What helps")));
}

TEST(RunReport, TailOfAnotherPolicyRecommendsTheUsualPolicy) {
  auto run = run_of({device("fast", 30, {{Idle::no_job, Seconds(600)}}), device("slow", 12, {})});
  run.policy = "note";
  EXPECT_THAT(report(run),
              AllOf(HasSubstr("policy note left the end of the work to slower devices"),
                    HasSubstr("What helps: the usual policy"), Not(HasSubstr("more recordings in one run"))));
  run.policy = "tutti";
  EXPECT_THAT(report(run), HasSubstr("What helps: more recordings in one run"));
  auto other_way = run_of({device("fast", 30, {}), device("slow", 12, {{Idle::no_job, Seconds(600)}})});
  other_way.policy = "note";
  EXPECT_THAT(report(other_way), HasSubstr("What helps: more recordings in one run"));
}

/// A GPU rated at 20 that was busy nearly all the time and did 14 times real time.
RunNumbers below_its_rating() {
  DeviceTime card = device("card", 20, {{Idle::no_job, Seconds(40)}});
  card.audio = Seconds(13'600);
  card.windows = 1360;
  return run_of({card});
}

TEST(RunReport, TheTableShowsWhatADeviceDidBesideItsRating) {
  const std::string text = report(below_its_rating());
  EXPECT_THAT(text, testing::ContainsRegex("speed +rated +idle"));
  EXPECT_THAT(text, testing::ContainsRegex("96 % +3:46:40 +14\\.2 × +20\\.0 × +no task 4 %"));
  auto unrated = below_its_rating();
  unrated.devices[0].rated.reset();
  EXPECT_THAT(report(unrated), Not(HasSubstr("rated")));
}

TEST(RunReport, EfficiencyLossIsFullyExplained) {
  const auto run = below_its_rating();
  EXPECT_THAT(report(run),
              HasSubstr("Efficiency 68 %: the same work takes these devices at least 11:20. The rest: slower "
                        "than rated 28 %, no task 4 %"));
  const auto unequal =
      run_of({device("fast", 30, {{Idle::input, Seconds(300)}, {Idle::fault, Seconds(100)}}), device("slow", 10, {})});
  double sum = *lower_bound(unequal) / unequal.elapsed;
  for (const RunLoss& loss : losses_of(unequal)) sum += loss.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(losses_of(unequal).at(0).idle, Idle::input);
  EXPECT_NEAR(losses_of(unequal).at(0).share, 0.225, 1e-9) << "three quarters of what they can do is the fast one's";
}

TEST(RunReport, ABusyDeviceBelowItsRatingIsNotAnsweredWithMoreOfThem) {
  const std::string text = report(below_its_rating());
  EXPECT_THAT(
      text, AllOf(HasSubstr("Slower than rated 28 % of the time: windows of 10.0 s took the devices 206 ms each beside "
                            "their audio"),
                  HasSubstr("without it the run ends up to 4:40 sooner"), Not(HasSubstr("only more of them help"))));
}
