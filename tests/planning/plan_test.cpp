#include <gtest/gtest.h>

#include "hub/memory_plan.h"
#include "jobs/open_store.h"
#include "planning/capacity.h"
#include "planning/plan_devices.h"
#include "planning/policy_table.h"
#include "planning/quote.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

DevicePast past_in(const std::filesystem::path& folder) {
  const auto past = read_device_past(folder);
  EXPECT_TRUE(past) << past.error().text();
  return past.value_or(DevicePast{});
}

TEST(PlanDevices, EmulatedUseDeclaredAndRealUseDriverValues) {
  MachineDevices machine;
  machine.gpus.resize(1);
  machine.gpus[0].uuid = "GPU-aa";
  machine.gpus[0].memory_total = Bytes{24'000'000'000};
  machine.visible = machine.gpus;
  const auto targets = plan_targets("emulated:30x:12GB,cuda:0,cpu:1", machine);
  ASSERT_TRUE(targets) << targets.error().text();
  ASSERT_EQ(targets->size(), 3u);
  EXPECT_EQ((*targets)[0].speed, 30);
  EXPECT_EQ((*targets)[0].memory, Bytes{12'000'000'000});
  EXPECT_GT((*targets)[0].windows.value_or(0), 1);
  EXPECT_EQ((*targets)[1].id, "cuda:0");
  EXPECT_EQ((*targets)[1].memory, Bytes{24'000'000'000});
  EXPECT_FALSE((*targets)[1].speed);
  EXPECT_TRUE((*targets)[2].on_cpu);
  for (const char* list : {"", "cuda:1", "cpu:x", "emulated:12GB", "cuda:0,,cpu"})
    EXPECT_FALSE(plan_targets(list, machine)) << list;
}

TEST(PlanDevices, MeasuredSpeedOfBatchesIsUsed) {
  const TempFolder folder;
  std::vector<PlanTarget> targets{{.id = "cuda:0", .record = "GPU-aa"}, {.id = "cuda:1", .record = "GPU-bb"}};
  add_past(targets, past_in(folder.path() / "none"), {"medium", "default"});
  EXPECT_FALSE(targets[0].speed);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none")) << "looking makes no store";
  {
    auto store = open_store({.url = folder.path()});
    ASSERT_TRUE(store) << store.error().text();
    for (const int windows : {1, 8})
      ASSERT_TRUE((*store)->record_speed({.key = {"GPU-aa", "medium", "default", windows},
                                          .speed = 10.0 * windows,
                                          .samples = 5,
                                          .median_error = 0.1}));
    ASSERT_TRUE((*store)->record_speed({.key = {"GPU-bb", "tiny", "default", 8}, .speed = 300}));
  }
  add_past(targets, past_in(folder.path()), {"medium", "default"});
  EXPECT_EQ(targets[0].speed, 80);
  EXPECT_DOUBLE_EQ(targets[0].speed_error, 0.1);
  EXPECT_FALSE(targets[1].speed) << "it was measured with another model";
}

TEST(PlanDevices, WithTheDefaultTypeASpeedOfAnotherTypeWillDo) {
  const TempFolder folder;
  {
    auto store = open_store({.url = folder.path()});
    ASSERT_TRUE(store) << store.error().text();
    const auto measured = [&](const std::string& device, const std::string& type, double speed) {
      ASSERT_TRUE((*store)->record_speed({.key = {device, "medium", type, 8}, .speed = speed}));
    };
    measured("GPU-aa", "int8_float16", 90);
    measured("GPU-aa", "auto", 80);
    measured("GPU-bb", "auto", 70);
    measured("GPU-bb", "float16", 60);
    measured("GPU-cc", "int8_float16", 50);
  }
  std::vector<PlanTarget> targets;
  for (const char* device : {"GPU-aa", "GPU-bb", "GPU-cc"}) targets.push_back({.id = device, .record = device});
  std::vector<PlanTarget> strict = targets;
  const DevicePast past = past_in(folder.path());
  add_past(strict, past, {"medium", "default"});
  for (const auto& target : strict) EXPECT_FALSE(target.speed) << target.id;
  add_past(targets, past, {"medium", "default", true});
  EXPECT_EQ(targets[0].speed, 80) << "what a self-test chose there, before any other";
  EXPECT_EQ(targets[0].speed_type, "auto");
  EXPECT_EQ(targets[1].speed, 60) << "float16 is a GPU's default";
  EXPECT_EQ(targets[2].speed, 50);
  std::vector<PlanTarget> exact{{.id = "GPU-cc", .record = "GPU-cc"}};
  add_past(exact, past, {"medium", "float32", true});
  EXPECT_FALSE(exact[0].speed) << "a type that was asked for by name is that one";
}

TEST(PlanDevices, LoadTimeIsFromTheLastBatchWithTheModel) {
  const TempFolder folder;
  {
    auto store = open_store({.url = folder.path()});
    ASSERT_TRUE(store) << store.error().text();
    const auto ran = [&](const std::string& model, DeviceUse use) {
      const auto run = (*store)->begin_run({.command = "tutti batch", .model = model});
      ASSERT_TRUE(run) << run.error().text();
      use.device = "GPU-aa";
      ASSERT_TRUE((*store)->end_run(*run, {.elapsed = Seconds(100), .devices = {use}}));
    };
    ran("medium", {.audio = Seconds(60), .idle = {{"starting", Seconds(30)}}});
    ran("medium", {.audio = Seconds(60), .idle = {{"starting", Seconds(8)}, {"fault", Seconds(50)}}});
    ran("medium", {.idle = {{"starting", Seconds(600)}}});  // it never got ready
    ran("tiny", {.audio = Seconds(60), .idle = {{"starting", Seconds(2)}}});
  }
  std::vector<PlanTarget> targets{{.id = "a", .record = "GPU-aa", .speed = 30},
                                  {.id = "b", .record = "GPU-bb"},
                                  {.id = "emulated", .record = "GPU-aa", .windows = 8, .warm_up = Seconds(1)}};
  add_past(targets, past_in(folder.path()), {"medium", "default"});
  EXPECT_EQ(targets[0].warm_up, Seconds(8));
  EXPECT_EQ(targets[1].warm_up, Seconds(0));
  EXPECT_EQ(targets[2].warm_up, Seconds(1)) << "an emulated one knows";
  const std::vector<SimJob> jobs = with_error(std::vector<double>{3000}, 0, 0);
  const std::vector<Capacity> fits(1, {.fits = 8, .in_flight = 8});
  EXPECT_NEAR(quote_time({.targets = {targets[0]}, .jobs = jobs}, fits).expected.count(), 8 + 100, 0.1);
}

TEST(PlanDevices, PastPowerIsKnownIfAllRunsReportedIt) {
  const TempFolder folder;
  {
    auto store = open_store({.url = folder.path()});
    ASSERT_TRUE(store) << store.error().text();
    const auto run = (*store)->begin_run({.command = "tutti batch"});
    ASSERT_TRUE(run) << run.error().text();
    ASSERT_TRUE((*store)->end_run(
        *run, {.elapsed = Seconds(100), .devices = {{.device = "GPU-aa", .energy_joules = 30'000.0}}}));
  }
  std::vector<PlanTarget> targets{{.id = "a", .record = "GPU-aa"}};
  add_past(targets, past_in(folder.path()), {"medium", "default"});
  EXPECT_EQ(watts_of(targets), 300);
  targets.push_back({.id = "b", .record = "GPU-bb"});
  EXPECT_EQ(watts_of(targets), std::nullopt);
}

/// The store's records after a batch over 15 s clips on two devices. Each device takes 0.7 s for a window and 1/40 of
/// its audio.
DevicePast past_of_clips(std::int64_t windows) {
  const TempFolder folder;
  {
    const auto store = open_store({.url = folder.path()});
    EXPECT_TRUE(store) << store.error().text();
    RunEnd end{.total = 1, .successful = 1};
    const auto count = static_cast<double>(windows);
    const Seconds audio(15 * count), busy(count * (0.7 + 15 / 40.0));
    for (const char* device : {"cpu:0", "cpu:1"}) {
      end.audio += audio;
      end.devices.push_back(
          {.device = device, .audio = audio, .busy = busy, .windows = windows, .window_capacity = 10});
      EXPECT_TRUE((*store)->record_speed({.key = {device, "base", "default", 10},
                                          .speed = audio / busy,
                                          .samples = static_cast<std::int64_t>(audio / Seconds(30)),
                                          .median_error = 0.02}));
    }
    const auto run = (*store)->begin_run({.command = "tutti batch", .model = "base", .compute_type = "default"});
    EXPECT_TRUE(run) << run.error().text();
    EXPECT_TRUE((*store)->end_run(*run, end));
  }
  return past_in(folder.path());
}

TEST(PlanQuote, LearnedFromClipsAloneTheBandHoldsWhatLongRecordingsTake) {
  std::vector<PlanTarget> targets{{.id = "cpu:0", .record = "cpu:0"}, {.id = "cpu:1", .record = "cpu:1"}};
  add_past(targets, past_of_clips(200), {"base", "default"});
  const std::vector<Capacity> fits(2, {.fits = 10, .in_flight = 10});
  const auto lectures =
      quote_time({.targets = targets, .jobs = with_error(std::vector<double>(8, 1800.0), 0, 0)}, fits);
  const double truth = 8 * 60 * (0.7 + 30 / 40.0) / 2;
  EXPECT_LE(lectures.least.count(), truth);
  EXPECT_GE(lectures.most.count(), truth);
  EXPECT_NEAR(lectures.expected.count(), truth, 0.15 * truth) << "not as if a window cost what its audio costs";
  const auto clips = quote_time({.targets = targets, .jobs = with_error(std::vector<double>(400, 15.0), 0, 0)}, fits);
  EXPECT_NEAR(clips.expected.count(), 400 * (0.7 + 15 / 40.0) / 2, 3);
  EXPECT_GT((lectures.most - lectures.least) / lectures.expected, 2 * ((clips.most - clips.least) / clips.expected))
      << "of what is like what was measured more is known";
}

TEST(PlanQuote, HugeArchiveKeepsTheUsualCostPerWindow) {
  std::vector<PlanTarget> targets{{.id = "cpu:0", .record = "cpu:0"}};
  add_past(targets, past_of_clips(200), {"base", "default"});
  const auto quote = quote_time({.targets = targets, .jobs = with_error(std::vector<double>(4, 1.7e6), 0, 0)},
                                {{.fits = 1, .in_flight = 1}});
  EXPECT_NEAR(quote.lower_bound / quote.expected, 1, 0.01);
}

TEST(PlanQuote, SpeedMostlyWithoutWindowCountsUsesOldModel) {
  DevicePast past = past_of_clips(60);  // a quarter of an hour, in half as many windows as an hour has
  for (SpeedRecord& speed : past.speeds) speed.samples = 120;
  std::vector<PlanTarget> targets{{.id = "cpu:0", .record = "cpu:0"}};
  add_past(targets, past, {"base", "default"});
  EXPECT_FALSE(targets[0].window_cost);
  const std::vector<Capacity> fits(1, {.fits = 10, .in_flight = 10});
  const auto quote = quote_time({.targets = targets, .jobs = with_error(std::vector<double>{3000}, 0, 0)}, fits);
  EXPECT_NEAR(quote.expected.count(), 3000 / *targets[0].speed, 0.1);
}

TEST(PlanDevices, SilenceThatEarlierBatchesWithTheModelFoundIsExpectedAgain) {
  const std::vector<RunRecord> runs{
      {.start = {.model = "medium"},
       .end = {.audio = Seconds(30'000), .devices = {{.audio = Seconds(20'000)}, {.audio = Seconds(3'000)}}}},
      {.start = {.model = "tiny"}, .end = {.audio = Seconds(9'000), .devices = {{.audio = Seconds(9'000)}}}},
      {.start = {.model = "medium"},
       .end = {.total = 9, .successful = 1, .audio = Seconds(10), .devices = {{.audio = Seconds(4'000)}}}},  // stopped
      {.start = {.model = "medium"}, .end = {.audio = Seconds(6'000), .devices = {{.audio = Seconds(2'000)}}}}};
  const auto share = speech_share(runs, "medium");
  ASSERT_TRUE(share);
  EXPECT_NEAR(*share, (25'000.0 + 3600) / (36'000 + 3600), 1e-9) << "an hour more is taken to have been all speech";
  EXPECT_FALSE(speech_share(runs, "large-v3"));
  EXPECT_FALSE(speech_share({{.start = {.model = "medium"}}}, "medium")) << "a run in which nothing was to be done";

  QuoteQuestion question{.targets = {{.id = "a", .speed = 30}}, .jobs = with_error(std::vector<double>{3000}, 0, 0)};
  const std::vector<Capacity> fits(1, {.fits = 8, .in_flight = 8});
  const TimeQuote all_speech = quote_time(question, fits);
  question.speech = 0.5;
  const TimeQuote half = quote_time(question, fits);
  EXPECT_NEAR(half.expected / all_speech.expected, 0.5, 0.001);
  EXPECT_NEAR(half.lower_bound / all_speech.lower_bound, 0.5, 1e-9);
  EXPECT_EQ(half.audio, Seconds(3000)) << "of the recordings, whatever is in them";
  EXPECT_NE(silence_text(half.speech).find("50 %"), std::string::npos) << silence_text(half.speech);
  EXPECT_NE(silence_text(all_speech.speech).find("the end comes sooner"), std::string::npos);
}

TEST(PlanPolicies, AreComparedOverAsMuchSpeechAsEarlierBatchesFound) {
  const auto devices = sim_devices(*plan_figures("12GB:30x,8GB:12x"), 8);
  const std::vector<SimJob> jobs = with_error(std::vector<double>{3000, 2000, 1000}, 0, 0);
  const auto all = compare_policies(jobs, {}, devices, SimUnit::window, 0);
  const auto half = compare_policies(jobs, 0.5, devices, SimUnit::window, 0);
  EXPECT_NEAR(half.lower_bound / all.lower_bound, 0.5, 1e-9);
  EXPECT_NEAR(half.rows.front().makespan / all.rows.front().makespan, 0.5, 0.02);
  EXPECT_NE(half.text(3, Seconds(6000)).find("50 % of it counts as speech"), std::string::npos);
  EXPECT_NE(half.json().find("\"speech_share\":0.5"), std::string::npos);
  EXPECT_EQ(all.json().find("speech_share"), std::string::npos) << "it is unknown";
}

TEST(PlanCapacity, AutoHasTheCapacityOfTheLargestFastType) {
  const ModelShape medium = *model_shape("medium");
  for (const bool on_cpu : {false, true}) {
    const PlanTarget target{.id = "x", .memory = Bytes{8'000'000'000}, .on_cpu = on_cpu};
    const auto fits = [&](const char* type) { return capacity({.shape = medium, .compute_type = type}, target).fits; };
    EXPECT_EQ(fits("auto"), fits(on_cpu ? "bfloat16" : "float16"));
    EXPECT_GT(fits("auto"), 0);
  }
}

TEST(PlanCapacity, FollowsMemoryPlanLessDriverShareAndHeadroom) {
  const ModelShape medium = *model_shape("medium");
  const PlanTarget card{.id = "cuda:0", .memory = Bytes{8'000'000'000}};
  const Capacity it = capacity({.shape = medium, .compute_type = "float16"}, card);
  const MemoryPlan plan = memory_plan(medium, on_gpu(*number_sizes("float16")));
  const std::int64_t left = 8'000'000'000 - 2 * (512LL << 20);
  EXPECT_LE(plan.total(it.fits, 1).value, left);
  EXPECT_GT(plan.total(it.fits + 1, 1).value, left);
  EXPECT_EQ(capacity({.shape = medium, .compute_type = "float16"}, {.id = "x", .memory = Bytes{2'000'000'000}}).fits,
            0);
}

TEST(PlanCapacity, AsManyDecodersAreCountedAsFeedTheDevices) {
  const CapacityQuestion question{.shape = *model_shape("tiny"), .compute_type = "default"};
  const auto control = [&](std::optional<double> speed, int cores) {
    const PlanTarget card{.id = "cuda:0", .speed = speed, .memory = Bytes{24'000'000'000}};
    return host_need(question, {card}, cores).control.value;
  };
  const std::int64_t usual = control({}, 16);
  EXPECT_EQ(control(1000, 16), usual);
  EXPECT_EQ(control(1000, 2), usual) << "the machine that was described may have more";
  const std::int64_t all = control(1e6, 16);
  EXPECT_GT(all, usual);
  EXPECT_EQ(all - usual, 12 * (control(400 * 5, 16) - usual)) << "a process more for 400 x real time, one a core";
}

TEST(PlanQuote, DeviceTooSmallIsReportedAndNotRecommended) {
  const auto quote = make_quote({.model = "large-v3",
                                 .compute_type = "default",
                                 .ram = {32'000'000'000},
                                 .targets = *plan_figures("12GB:30x,3GB:12x"),
                                 .jobs = {{Seconds(3000), Seconds(3000)}}});
  ASSERT_TRUE(quote) << quote.error().text();
  ASSERT_EQ(quote->problems.size(), 1u);
  EXPECT_NE(quote->problems[0].find("cuda:1"), std::string::npos);
  EXPECT_NE(quote->command.find("--devices cuda:0"), std::string::npos);
  EXPECT_EQ(quote->command.find("cuda:1"), std::string::npos);
  EXPECT_NE(quote->command.find("--beam-size None"), std::string::npos) << "a batch has five by default";
  EXPECT_EQ(quote->command.find("tutti batch INPUT... --model large-v3 "), 0U) << "lengths name no recording";
  ASSERT_TRUE(quote->time);
  EXPECT_NEAR(quote->time->expected.count(), 100, 1) << "only the card it fits on works";
  EXPECT_LT(quote->time->least, quote->time->expected);
  EXPECT_GT(quote->time->most, quote->time->expected);
}

TEST(PlanQuote, ADeviceOfUnknownSpeedHasACapacityAndNoTime) {
  const auto quote = make_quote({.model = "tiny",
                                 .compute_type = "default",
                                 .ram = {8'000'000'000},
                                 .targets = {{.id = "cuda:0", .memory = Bytes{8'000'000'000}}},
                                 .jobs = {{Seconds(3000), Seconds(3000)}}});
  ASSERT_TRUE(quote);
  EXPECT_FALSE(quote->time);
  EXPECT_GT(quote->chosen.on[0].fits, 0);
  EXPECT_FALSE(make_quote({.model = "gigantic", .compute_type = "default", .targets = quote->question.targets}));
}

TEST(PlanQuote, CostsAndEnergyAreThoseOfTheDevicesTheModelFitsOn) {
  auto targets = *plan_figures("12GB:30x,3GB:12x");
  targets[0].watts = 300;
  targets[0].price = 1.5;
  const auto quote = make_quote({.model = "large-v3",
                                 .compute_type = "auto",
                                 .ram = {32'000'000'000},
                                 .targets = targets,
                                 .jobs = {{Seconds(3600), Seconds(3600)}}});
  ASSERT_TRUE(quote) << quote.error().text();
  ASSERT_TRUE(quote->time);
  const double hours = quote->time->expected / Seconds(3600);
  ASSERT_TRUE(quote->cost) << "the card that it does not fit on needs no price";
  EXPECT_NEAR(quote->cost->total, 1.5 * hours, 1e-9);
  EXPECT_NEAR(quote->energy_joules.value_or(0), 300 * 3600 * hours, 1e-3);
  EXPECT_NE(quote->text().find("Expected cost: 0.05, at 1.50 per device hour; 0.05 per hour of audio; "),
            std::string::npos)
      << quote->text();
  EXPECT_NE(quote->text().find("Expected energy: 10"), std::string::npos) << quote->text();
  EXPECT_NE(quote->json().find("\"cost_per_audio_hour\":"), std::string::npos);
}

TEST(PlanPolicies, DeviceFaultsAreSimulatedButNotExpected) {
  auto targets = *plan_figures("12GB:30x,12GB:30x");
  const auto healthy = targets;
  using Kind = EmulatedFailure::Kind;
  targets[0].failures = {{Kind::lost, Seconds(60), Seconds(30)}, {Kind::die, Seconds(20)}, {Kind::exhaust, Seconds(5)}};
  const auto devices = sim_devices(targets, 8);
  ASSERT_EQ(devices[0].faults.size(), 3U);
  EXPECT_EQ(devices[0].faults[0].kind, SimFault::Kind::worker_dies) << "in order of time";
  EXPECT_EQ(devices[0].faults[1].kind, SimFault::Kind::lost);
  EXPECT_EQ(devices[0].faults[2].kind, SimFault::Kind::returned);
  EXPECT_EQ(devices[0].faults[2].at, Seconds(90));
  EXPECT_NE(simplified_failures(targets).find("exhaust"), std::string::npos);
  EXPECT_EQ(simplified_failures(healthy), "");
  const std::vector<SimJob> jobs = with_error(std::vector<double>(6, 1500.0), 0, 0);
  const auto makespan = [&](const auto& on) {
    return compare_policies(jobs, {}, sim_devices(on, 8), SimUnit::window, 0).rows.front().makespan;
  };
  EXPECT_GT(makespan(targets), makespan(healthy) + Seconds(10));
  const std::vector<Capacity> fits(2, {.fits = 8, .in_flight = 8});
  EXPECT_EQ(quote_time({.targets = targets, .jobs = jobs}, fits).expected,
            quote_time({.targets = healthy, .jobs = jobs}, fits).expected);
}

TEST(PlanPolicies, ARecordingIsBlamedForLostWorkersAsABatchBlamesIt) {
  using Kind = EmulatedFailure::Kind;
  const auto not_done = [](Kind kind) {
    auto targets = *plan_figures("12GB:1x,12GB:1x");
    for (int i = 0; i < 2; ++i)
      targets[static_cast<std::size_t>(i)].failures = {{kind, Seconds(10 * (i + 1)), Seconds(5)}};
    const std::vector<SimJob> one = with_error(std::vector<double>{30}, 0, 0);
    return compare_policies(one, {}, sim_devices(targets, 8), SimUnit::window, 0).rows.front().not_done;
  };
  for (const Kind kind : {Kind::die, Kind::hang, Kind::stall, Kind::lost})
    EXPECT_EQ(not_done(kind), 0U) << text_of({.kind = kind}) << " twice may be the machine's doing";
  EXPECT_EQ(not_done(Kind::garble), 1U);
}

TEST(PlanPolicies, RecordingsWithoutDeviceAreCountedAsNotDone) {
  auto targets = *plan_figures("12GB:30x");
  targets[0].failures = {{EmulatedFailure::Kind::lost, Seconds(10)}};
  const std::vector<SimJob> jobs = with_error(std::vector<double>{3000, 2000}, 0, 0);
  const auto table = compare_policies(jobs, {}, sim_devices(targets, 8), SimUnit::window, 0);
  EXPECT_EQ(table.rows.front().not_done, 2U);
  EXPECT_NE(table.text(2, Seconds(5000)).find("2 not done"), std::string::npos);
  EXPECT_NE(table.json().find("\"not_done\":2"), std::string::npos);
}

TEST(PlanPolicies, CostTheTimeOfAllDevices) {
  const std::vector<SimJob> jobs = with_error(std::vector<double>{3600}, 0, 0);
  auto table = compare_policies(jobs, {}, sim_devices(*plan_figures("12GB:30x,8GB:12x"), 8), SimUnit::window, 0);
  table.add_costs(6);
  for (const auto& row : table.rows) EXPECT_DOUBLE_EQ(row.cost.value_or(0), 6 * (row.makespan / Seconds(3600)));
  EXPECT_NE(table.text(1, Seconds(3600)).find(" cost "), std::string::npos);
}

TEST(PlanPolicies, AreComparedByTheContractsKeys) {
  const std::vector<SimJob> jobs = with_error(std::vector<double>{3000, 2000, 1000}, 0, 0);
  const auto table = compare_policies(jobs, {}, sim_devices(*plan_figures("12GB:30x,8GB:12x"), 8), SimUnit::window, 0);
  EXPECT_EQ(table.json().substr(0, 17), R"({"lower_bound_s":)");
  for (const char* name : {"tutti", "note", "fifo", "round_robin"})
    EXPECT_NE(table.json().find(R"({"name":")" + std::string(name) + R"(","makespan_s":)"), std::string::npos) << name;
  EXPECT_NEAR(table.lower_bound.count(), 6000.0 / 42, 1e-9);
  for (const auto& row : table.rows) EXPECT_GE(row.ratio, 1 - 1e-9) << row.name;
}

TEST(PlanQuote, TheCommandHasTheInputsAndBoundsThatItWasPlannedWith) {
  const auto reported = [](const char* gpus) {
    const auto quote = make_quote({.model = "medium",
                                   .compute_type = "default",
                                   .ram = {32'000'000'000},
                                   .targets = *plan_figures(gpus),
                                   .jobs = {{Seconds(3000), Seconds(3000)}},
                                   .inputs = {"'my talks'", "--audio-root /a"}});
    EXPECT_TRUE(quote) << quote.error().text();
    return quote->command;
  };
  EXPECT_EQ(reported("12GB:30x,12GB:30x"),
            "tutti batch 'my talks' --audio-root /a --model medium --compute-type default --devices cuda:0,cuda:1 "
            "--max-per-gpu 36 -t 78 --beam-size None");
  const std::string unequal = reported("12GB:30x,4GB:12x");
  EXPECT_NE(unequal.find(" --max-per-gpu 0=36,1="), std::string::npos) << unequal;
}

TEST(PlanTraining, SizesNeedNoSpeed) {
  const auto targets = training_figures("24GB,16GB:30x,2x:8GiB");
  ASSERT_TRUE(targets) << targets.error().text();
  ASSERT_EQ(targets->size(), 3U);
  EXPECT_EQ((*targets)[0].memory, Bytes{24'000'000'000});
  EXPECT_EQ((*targets)[1].name, "16GB");
  EXPECT_EQ((*targets)[2].memory, Bytes{8LL << 30});
}

TEST(PlanTraining, WordThatIsNoSizeIsNamed) {
  for (const char* list : {"24GB,RTX", "24", "24GB,,16GB", "24GB:30x:1"}) {
    const auto targets = training_figures(list);
    ASSERT_FALSE(targets) << list;
    EXPECT_EQ(targets.error().fault, Fault::usage);
  }
  EXPECT_NE(training_figures("24GB,RTX").error().what.find("'RTX'"), std::string::npos);
}

TEST(PlanDevices, FiguresTakeNoNameOfADeviceThatIsPlannedForBeside) {
  const auto targets = plan_figures("12GB:30x,8GB:12x", {{.id = "cuda:0"}, {.id = "cpu"}});
  ASSERT_TRUE(targets);
  EXPECT_EQ((*targets)[0].id, "cuda:1");
  EXPECT_EQ((*targets)[1].id, "cuda:2");
}

}  // namespace
}  // namespace tutti
