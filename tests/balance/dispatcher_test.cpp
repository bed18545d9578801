#include "balance/dispatcher.h"

#include <gtest/gtest.h>

#include <set>

#include "driving.h"

namespace tutti {
namespace {

/// Two unequal GPUs that may have four files each, and ten files.
Dispatcher ten_requests(Policy policy) {
  Dispatcher dispatcher({.policy = policy});
  for (const double speed : {30.0, 12.0}) {
    DeviceFacts facts = device("GPU " + std::to_string(speed), speed, 8);
    facts.job_cap = 4;
    dispatcher.add_device(facts, {});
  }
  for (JobKey id = 0; id < 10; ++id) add_file(dispatcher, id, Seconds(3000));
  return dispatcher;
}

/// In seconds, by when the only device is expected to have done it.
double audio_left(Dispatcher& dispatcher, Seconds now) {
  return dispatcher.queue(now).expected_left->count() * dispatcher.devices(now)[0].speed;
}

TEST(Dispatcher, CapOfFourStartsEightOfTenRequestsOnTwoDevices) {
  for (const Policy policy : {Policy::tutti, Policy::note, Policy::fifo, Policy::round_robin}) {
    SCOPED_TRACE(name_of(policy));
    Dispatcher dispatcher = ten_requests(policy);
    const auto placed = take_all(dispatcher, {});
    EXPECT_EQ(by_device(placed), (std::map<DeviceIndex, int>{{0, 4}, {1, 4}}));
    dispatcher.finished(placed[0].id, Seconds(10));
    dispatcher.end_job(placed[0].job, Seconds(10));
    const auto next = take_all(dispatcher, Seconds(10));
    ASSERT_EQ(next.size(), 1u);
    EXPECT_EQ(next[0].device, placed[0].device);
  }
}

/// Two equal GPUs that may have four files each, and ten equal files of one window.
Dispatcher ten_equal_files(bool whole) {
  Dispatcher dispatcher;
  for (const char* id : {"a", "b"}) {
    DeviceFacts facts = device(id, 30, 8);
    facts.job_cap = 4;
    dispatcher.add_device(facts, {});
  }
  for (JobKey id = 0; id < 10; ++id) {
    dispatcher.add_job(id, {.audio = Seconds(30), .whole = whole}, {});
    dispatcher.offer(id, Seconds(30), 1, {});
  }
  return dispatcher;
}

TEST(Dispatcher, LastTwoEqualFilesGoToDifferentDevices) {
  for (const bool whole : {false, true}) {
    SCOPED_TRACE(whole ? "whole files" : "windows");
    Dispatcher dispatcher = ten_equal_files(whole);
    std::map<DeviceIndex, int> placed;
    std::vector<Grant> first;
    for (const Grant& grant : take_all(dispatcher, {})) {
      ++placed[grant.device];
      if (grant.device == 0) first.push_back(grant);
    }
    ASSERT_EQ(placed, (std::map<DeviceIndex, int>{{0, 4}, {1, 4}}));
    // All end together, and word of one device's comes before any of the other's.
    std::size_t after_first = 0;
    for (const Grant& grant : first) {
      dispatcher.finished(grant.id, Seconds(4));
      dispatcher.end_job(grant.job, Seconds(4));
      after_first += take_all(dispatcher, Seconds(4)).size();
    }
    EXPECT_EQ(after_first, 1u) << "the other device ends the last one sooner";
  }
}

TEST(Dispatcher, ACapThatALongFileHoldsIsNotWaitedFor) {
  Dispatcher dispatcher;
  for (const double speed : {30.0, 300.0}) {
    DeviceFacts facts = device("GPU " + std::to_string(speed), speed, 8);
    facts.job_cap = 1;
    dispatcher.add_device(facts, {});
  }
  dispatcher.add_job(1, {.audio = Seconds(90)}, {});
  dispatcher.offer(1, Seconds(30), 1, {});
  ASSERT_EQ(take_all(dispatcher, {}).at(0).device, 1u);
  dispatcher.add_job(2, {.audio = Seconds(30)}, {});
  dispatcher.offer(2, Seconds(30), 1, {});
  const auto next = take_all(dispatcher, {});
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].device, 0u);
}

TEST(Dispatcher, LanguageDetectionCountsNoAudioAndTrainsNoSpeed) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("GPU", 30, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(300)}, {});
  dispatcher.correct_length(1, Seconds(0), {});  // no speech in it
  dispatcher.offer(1, Seconds(30), 1, {});
  EXPECT_NEAR(audio_left(dispatcher, {}), 30, 1e-6) << "not as if its length were unknown";
  const auto grant = dispatcher.next({});
  ASSERT_TRUE(grant);
  dispatcher.finished(grant->id, Seconds(0.1), false);
  dispatcher.end_job(1, Seconds(0.1));
  const DeviceView view = dispatcher.devices(Seconds(0.1))[0];
  EXPECT_EQ(view.audio_done, Seconds(0));
  EXPECT_FALSE(view.error);
  EXPECT_EQ(view.speed, 30);
}

TEST(Dispatcher, NotePolicyScoresByTheDriversUtilisation) {
  const auto first_of = [](std::optional<double> a, std::optional<double> b) {
    Dispatcher dispatcher({.policy = Policy::note});
    for (const char* id : {"a", "b"}) dispatcher.add_device(device(id, 30, 8), {});
    dispatcher.device_load(0, {.busy = a}, {});
    dispatcher.device_load(1, {.busy = b}, {});
    add_file(dispatcher, 1, Seconds(30));
    return dispatcher.next({})->device;
  };
  EXPECT_EQ(first_of(0.9, 0.1), 1U);
  EXPECT_EQ(first_of(0.1, 0.9), 0U);
  EXPECT_EQ(first_of(0.1, std::nullopt), 1U) << "where it is lost the number of tasks counts alone";
  EXPECT_EQ(first_of(std::nullopt, std::nullopt), 0U);
}

TEST(Dispatcher, OthersLeaveTheRestOfTheBelievedSpeed) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 8), {});
  const auto speed = [&] { return dispatcher.devices({})[0].speed; };
  dispatcher.device_load(0, {.busy = 0.7, .foreign = 0.6}, {});
  EXPECT_NEAR(speed(), 12, 1e-9);
  dispatcher.device_speed(0, 50, {});
  EXPECT_NEAR(speed(), 20, 1e-9);
  dispatcher.device_load(0, {.busy = 1, .foreign = 1}, {});
  EXPECT_NEAR(speed(), 5, 1e-9) << "never nothing";
  dispatcher.device_load(0, {.busy = 0.1}, {});
  EXPECT_NEAR(speed(), 50, 1e-9);
}

TEST(Dispatcher, RawNotePolicyStartsAllTenAndIgnoresCaps) {
  Dispatcher dispatcher = ten_requests(Policy::note_raw);
  EXPECT_EQ(take_all(dispatcher, {}).size(), 10u);
}

TEST(Dispatcher, ACapCountsAJobOnEveryDeviceWhereItHasAWindowInFlight) {
  Dispatcher dispatcher;
  for (int i = 0; i < 2; ++i) {
    DeviceFacts facts = device("GPU " + std::to_string(i), 30, 4);
    facts.job_cap = 1;
    dispatcher.add_device(facts, {});
  }
  for (JobKey id = 0; id < 2; ++id) {
    dispatcher.add_job(id, {.audio = Seconds(300)}, {});
    dispatcher.offer(id, Seconds(30), 3, {});
  }
  const auto grants = take_all(dispatcher, {});
  std::map<DeviceIndex, std::set<JobKey>> jobs;
  for (const auto& grant : grants) jobs[grant.device].insert(grant.job);
  EXPECT_EQ(jobs.size(), 2u) << "both devices work";
  for (const auto& [index, there] : jobs) EXPECT_EQ(there.size(), 1u);
}

TEST(Dispatcher, MemoryIsReservedAtGrantAndRefusalNamesTheNumbers) {
  Dispatcher dispatcher({.least_headroom = {0}});
  DeviceFacts facts = device("GPU 0", 30, 8);
  facts.enough = 4;
  facts.memory = Bytes{10'000'000'000};
  facts.model_memory = {4'000'000'000};
  facts.piece_memory = {1'500'000'000};
  dispatcher.add_device(facts, {});
  for (JobKey id = 0; id < 5; ++id) add_file(dispatcher, id, Seconds(100));
  EXPECT_EQ(take_all(dispatcher, {}).size(), 3u) << "10 GB less 5 % less 4 GB hold three times 1.5 GB";
  EXPECT_EQ(dispatcher.devices({})[0].refusal, "needs 1.5 GB of memory; 1.0 GB are free");
  EXPECT_EQ(dispatcher.devices({})[0].reserved, Bytes{8'500'000'000});
  EXPECT_EQ(dispatcher.devices({})[0].slots, 3);
}

TEST(Dispatcher, MemoryUsedByOthersIsNotGranted) {
  Dispatcher dispatcher({.least_headroom = {0}});
  DeviceFacts facts = device("GPU 0", 30, 8);
  facts.memory = Bytes{10'000'000'000};
  facts.piece_memory = {2'000'000'000};
  const auto card = dispatcher.add_device(facts, {});
  dispatcher.device_memory(card, {8'000'000'000}, {});
  add_file(dispatcher, 1, Seconds(100));
  EXPECT_FALSE(dispatcher.next({}));
  EXPECT_EQ(dispatcher.devices({})[0].why_idle, Idle::memory);
  EXPECT_EQ(dispatcher.devices({})[0].slots, 0);
  dispatcher.device_memory(card, {3'000'000'000}, Seconds(5));
  EXPECT_TRUE(dispatcher.next(Seconds(5)));
  EXPECT_EQ(dispatcher.devices(Seconds(5))[0].idle[Idle::memory], Seconds(5));
}

TEST(Dispatcher, EmptyDeviceTriesOnePieceUnlessForeignMemoryGrew) {
  Dispatcher dispatcher({.least_headroom = {0}});
  DeviceFacts facts = device("GPU 0", 30, 8);
  facts.memory = Bytes{10'000'000'000};
  facts.piece_memory = {6'000'000'000};
  facts.starting = true;
  const auto card = dispatcher.add_device(facts, {});
  dispatcher.device_memory(card, {4'000'000'000}, {});
  for (JobKey id = 0; id < 4; ++id) add_file(dispatcher, id, Seconds(100));
  dispatcher.device_event(card, HealthEvent::ready, "", {});
  const auto first = take_all(dispatcher, {});
  ASSERT_EQ(first.size(), 1u) << "6 GB do not fit beside 4 of 10, but its worker got ready beside them";
  dispatcher.device_memory(card, {4'500'000'000}, Seconds(1));
  dispatcher.finished(first[0].id, Seconds(2));
  EXPECT_FALSE(dispatcher.next(Seconds(2)));
  dispatcher.device_memory(card, {0}, Seconds(3));
  EXPECT_EQ(take_all(dispatcher, Seconds(3)).size(), 1u);
}

TEST(Dispatcher, ADeviceThatStarvesForMemoryTriesOnePieceAfterTenMinutes) {
  Dispatcher dispatcher;
  DeviceFacts facts = device("GPU 0", 30, 8);
  facts.memory = Bytes{10'000'000'000};
  facts.piece_memory = {1'000'000'000};
  const auto card = dispatcher.add_device(facts, {});
  dispatcher.device_memory(card, {9'900'000'000}, {});
  for (JobKey id = 0; id < 4; ++id) add_file(dispatcher, id, Seconds(100));
  EXPECT_FALSE(dispatcher.next({}));
  ASSERT_EQ(dispatcher.wake_at(), Seconds(600));
  EXPECT_FALSE(dispatcher.next(Seconds(599)));
  EXPECT_EQ(take_all(dispatcher, Seconds(600)).size(), 1u) << "the driver's figure for other processes may be wrong";
}

TEST(Dispatcher, LowMachineMemoryAllowsNoConcurrentStarts) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("GPU 0", 30, 8), {});
  dispatcher.host_short("0.3 of 16.0 GB of memory are left", {});
  for (JobKey id = 0; id < 4; ++id) add_file(dispatcher, id, Seconds(100));
  const auto first = take_all(dispatcher, {});
  ASSERT_EQ(first.size(), 1u) << "one alone always is";
  EXPECT_EQ(dispatcher.devices({})[0].refusal, "0.3 of 16.0 GB of memory are left");
  dispatcher.finished(first[0].id, Seconds(1));
  EXPECT_FALSE(dispatcher.next(Seconds(1)));
  EXPECT_EQ(dispatcher.devices(Seconds(1))[0].why_idle, Idle::memory);
  dispatcher.host_short({}, Seconds(2));
  EXPECT_EQ(take_all(dispatcher, Seconds(2)).size(), 3u);
}

TEST(Dispatcher, ThreadsBoundTheJobsInWorkOnAllDevicesTogether) {
  Dispatcher dispatcher({.jobs_at_once = 3});
  for (int i = 0; i < 2; ++i) dispatcher.add_device(device("GPU " + std::to_string(i), 30, 8), {});
  for (JobKey id = 0; id < 9; ++id) add_file(dispatcher, id, Seconds(100));
  EXPECT_EQ(take_all(dispatcher, {}).size(), 3u);
  EXPECT_EQ(dispatcher.devices({})[0].refusal, "3 of 3 jobs are in work");
}

TEST(Dispatcher, DeferredJobFreesItsSlotInTheJobLimit) {
  Dispatcher dispatcher({.jobs_at_once = 1});
  dispatcher.add_device(device("GPU", 30, 4), {});
  for (JobKey id = 0; id < 2; ++id) dispatcher.add_job(id, {.audio = Seconds(300)}, {});
  dispatcher.offer(0, Seconds(30), 1, {});
  const auto first = dispatcher.next({});
  ASSERT_TRUE(first);
  dispatcher.offer(1, Seconds(30), 1, {});
  dispatcher.defer_job(0, {});
  EXPECT_FALSE(dispatcher.next({})) << "a piece of it is in flight: it does not rest";
  dispatcher.finished(first->id, Seconds(1));
  EXPECT_FALSE(dispatcher.next(Seconds(1)));
  EXPECT_DOUBLE_EQ(audio_left(dispatcher, Seconds(1)), 570);
  dispatcher.defer_job(0, Seconds(1));
  EXPECT_DOUBLE_EQ(audio_left(dispatcher, Seconds(1)), 600) << "all of it is to be done again";
  const auto second = dispatcher.next(Seconds(1));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->job, 1u);
  dispatcher.offer(0, Seconds(30), 1, Seconds(1));
  dispatcher.finished(second->id, Seconds(2));
  dispatcher.end_job(1, Seconds(2));
  EXPECT_TRUE(dispatcher.next(Seconds(2))) << "and its next attempt is as good as a first";
}

TEST(Dispatcher, OrderIsInteractiveByDeadlineThenNormalThenLongestBatch) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("GPU 0", 30, 1), {});
  add_file(dispatcher, 1, Seconds(100));
  add_file(dispatcher, 2, Seconds(900));
  add_file(dispatcher, 3, Seconds(5), {}, {.kind = JobClass::normal});
  add_file(dispatcher, 4, Seconds(5), {}, {.kind = JobClass::interactive, .deadline = Seconds(60)});
  add_file(dispatcher, 5, Seconds(5), {}, {.kind = JobClass::interactive, .deadline = Seconds(20)});
  std::vector<JobKey> order;
  for (double now = 0; order.size() < 5; now += 100) {
    const auto grant = dispatcher.next(Seconds(now));
    ASSERT_TRUE(grant);
    order.push_back(grant->job);
    dispatcher.finished(grant->id, Seconds(now + 50));
    dispatcher.end_job(grant->job, Seconds(now + 50));
  }
  EXPECT_EQ(order, (std::vector<JobKey>{5, 4, 3, 2, 1}));
}

TEST(Dispatcher, LongWaitingJobOvertakesHigherClass) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("GPU 0", 30, 1), {});
  add_file(dispatcher, 1, Seconds(100));
  add_file(dispatcher, 2, Seconds(100), Seconds(3000), {.kind = JobClass::normal});
  add_file(dispatcher, 3, Seconds(100), Seconds(7300), {.kind = JobClass::normal});
  const auto first = dispatcher.next(Seconds(7300));
  EXPECT_EQ(first->job, 2u) << "six steps for its class, less five for coming 3000 s later";
  dispatcher.finished(first->id, Seconds(7310));
  dispatcher.end_job(2, Seconds(7310));
  EXPECT_EQ(dispatcher.next(Seconds(7310))->job, 1u) << "twelve ageing periods are worth two classes";
}

TEST(Dispatcher, ASlowDeviceLeavesTheLastWindowToAFasterOne) {
  Dispatcher dispatcher;
  const auto fast = dispatcher.add_device(device("fast", 60, 1), {});
  const auto slow = dispatcher.add_device(device("slow", 3, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(60)}, {});
  dispatcher.offer(1, Seconds(30), 2, {});
  const auto grants = take_all(dispatcher, {});
  ASSERT_EQ(grants.size(), 1u) << "0.5 s twice on the fast one is sooner than 10 s on the slow one";
  EXPECT_EQ(grants[0].device, fast);
  EXPECT_EQ(dispatcher.devices({})[slow].why_idle, Idle::left_to_faster);
}

TEST(Dispatcher, NoPieceStartsWhereItWouldOnlyWait) {
  Dispatcher dispatcher;
  auto facts = device("a", 30, 8);
  facts.enough = 1;
  dispatcher.add_device(facts, {});
  facts.id = "capped";
  facts.job_cap = 4;
  dispatcher.add_device(facts, {});
  facts.id = "faster with more of them";
  facts.job_cap.reset();
  facts.enough = 3;
  dispatcher.add_device(facts, {});
  for (JobKey id = 0; id < 30; ++id) add_file(dispatcher, id, Seconds(600));
  EXPECT_EQ(by_device(take_all(dispatcher, {})), (std::map<DeviceIndex, int>{{0, 2}, {1, 4}, {2, 6}}));
  EXPECT_EQ(dispatcher.devices({})[0].refusal, "2 of 2 slots are taken");
}

TEST(Dispatcher, SpeechShareOfSomeRecordingsIsExpectedOfOthers) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 10, 1), {});
  for (JobKey id = 0; id < 3; ++id) dispatcher.add_job(id, {.audio = Seconds(100)}, {});
  EXPECT_NEAR(audio_left(dispatcher, {}), 300, 1e-9);
  dispatcher.correct_length(0, Seconds(100), {});
  EXPECT_NEAR(audio_left(dispatcher, {}), 300, 1e-9);
  dispatcher.correct_length(0, Seconds(60), {});
  EXPECT_NEAR(audio_left(dispatcher, {}), 60 + 2 * 92, 1e-9) << "as if four others had had the declared length";
  dispatcher.correct_length(1, Seconds(60), {});
  EXPECT_NEAR(audio_left(dispatcher, {}), 60 + 60 + 100 * (2 * 0.6 + 4) / 6, 1e-9);
  dispatcher.end_job(0, {});
  dispatcher.correct_length(1, Seconds(180), {});
  EXPECT_NEAR(audio_left(dispatcher, {}), 180 + 100, 1e-9) << "a length above the declared one is chance";
}

TEST(Dispatcher, WindowsOfTheLastFileSpreadOverIdleDevices) {
  Dispatcher dispatcher;
  for (int i = 0; i < 4; ++i) dispatcher.add_device(device("GPU " + std::to_string(i), 30, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(1200)}, {});
  dispatcher.offer(1, Seconds(30), 40, {});
  EXPECT_EQ(by_device(take_all(dispatcher, {})).size(), 4u);
}

TEST(Dispatcher, IdleDeviceReportsReasonAndDuration) {
  Dispatcher dispatcher;
  const auto ready = dispatcher.add_device(device("ready", 30, 1), {});
  DeviceFacts facts = device("starting", 30, 1);
  facts.starting = true;
  const auto starting = dispatcher.add_device(facts, {});
  const auto lost = dispatcher.add_device(device("lost", 30, 1), {});
  const auto drained = dispatcher.add_device(device("drained", 30, 1), {});
  dispatcher.device_event(lost, HealthEvent::lost, "Xid 79", {});
  dispatcher.device_event(drained, HealthEvent::drain, "asked for", {});
  EXPECT_FALSE(dispatcher.next({}));
  const auto idle = [&](DeviceIndex index, Idle why, Seconds now) {
    return dispatcher.devices(now)[index].idle[why].count();
  };
  EXPECT_EQ(idle(ready, Idle::no_job, Seconds(2)), 2);
  EXPECT_EQ(idle(starting, Idle::starting, Seconds(2)), 2);
  EXPECT_EQ(idle(lost, Idle::fault, Seconds(2)), 2);
  EXPECT_EQ(idle(drained, Idle::drained, Seconds(2)), 2);
  dispatcher.add_job(1, whole_file(Seconds(300)), Seconds(2));
  EXPECT_FALSE(dispatcher.next(Seconds(2)));
  EXPECT_EQ(idle(ready, Idle::input, Seconds(5)), 3);
  dispatcher.offer(1, Seconds(300), 1, Seconds(5));
  EXPECT_TRUE(dispatcher.next(Seconds(5)));
  const DeviceView view = dispatcher.devices(Seconds(9))[ready];
  EXPECT_EQ(view.busy, Seconds(4));
  EXPECT_EQ(view.in_service, Seconds(9));
  EXPECT_FALSE(view.why_idle);
}

TEST(Dispatcher, QueueReportsExpectedTimeLeft) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_device(device("b", 10, 1), {});
  add_file(dispatcher, 1, Seconds(3000));
  add_file(dispatcher, 2, Seconds(1000));
  EXPECT_DOUBLE_EQ(dispatcher.queue({}).expected_left->count(), 100);
  take_all(dispatcher, {});
  EXPECT_NEAR(dispatcher.queue(Seconds(50)).expected_left->count(), 50, 1e-6);
}

TEST(Dispatcher, TimeLeftCoversWorkInFlightOnSlowDevice) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_device(device("b", 10, 1), {});
  add_file(dispatcher, 1, Seconds(3000));
  add_file(dispatcher, 2, Seconds(1000));
  const auto grants = take_all(dispatcher, {});
  ASSERT_EQ(grants.size(), 2U);
  for (const auto& grant : grants)
    if (grant.device == 0) dispatcher.finished(grant.id, Seconds(50));  // sooner than expected
  EXPECT_NEAR(dispatcher.queue(Seconds(50)).expected_left->count(), 50, 1e-6) << "the fast one cannot help any more";
}

TEST(Dispatcher, WorkInFlightOnADrainedDeviceIsNotLeftToOthers) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_device(device("b", 10, 1), {});
  add_file(dispatcher, 1, Seconds(3000));
  add_file(dispatcher, 2, Seconds(1000));
  ASSERT_EQ(by_device(take_all(dispatcher, {})), (std::map<DeviceIndex, int>{{0, 1}, {1, 1}}));
  dispatcher.device_event(0, HealthEvent::drain, "asked for", Seconds(50));
  EXPECT_NEAR(dispatcher.queue(Seconds(50)).expected_left->count(), 50, 1e-6) << "it ends that itself";
  add_file(dispatcher, 3, Seconds(500), Seconds(50));
  EXPECT_NEAR(dispatcher.queue(Seconds(50)).expected_left->count(), 100, 1e-6) << "this the other one does";
}

TEST(Dispatcher, LearnsSpeedsFromWhatWindowsTake) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 2), {});
  dispatcher.add_job(1, {.audio = Seconds(600)}, {});
  dispatcher.offer(1, Seconds(30), 20, {});
  double now = 0;
  for (auto grants = take_all(dispatcher, {}); !grants.empty(); grants = take_all(dispatcher, Seconds(now))) {
    now += 4;  // two at a time: 15 audio seconds per second
    for (const auto& grant : grants) dispatcher.finished(grant.id, Seconds(now));
  }
  EXPECT_NEAR(dispatcher.devices(Seconds(now))[0].speed, 15, 0.1);
  EXPECT_EQ(dispatcher.devices(Seconds(now))[0].audio_done, Seconds(600));
}

TEST(Dispatcher, CanaryDoesNotChangeSpeed) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("GPU", 30, 4), {});
  dispatcher.device_event(0, HealthEvent::lost, "", {});
  dispatcher.device_event(0, HealthEvent::returned, "", {});
  const auto canary = dispatcher.next({});
  ASSERT_TRUE(canary && canary->canary);
  dispatcher.finished(canary->id, Seconds(0.001));
  const auto view = dispatcher.devices(Seconds(1))[0];
  EXPECT_DOUBLE_EQ(view.speed, 30) << "it is encoded and not decoded";
  EXPECT_FALSE(view.error);
}

TEST(Dispatcher, RateIsThatOfTheWindowsInFlight) {
  Dispatcher dispatcher;
  DeviceFacts facts = device("GPU", 40, 8);
  facts.enough = 8;
  dispatcher.add_device(facts, {});
  dispatcher.add_job(1, {.audio = Seconds(300)}, {});
  dispatcher.offer(1, Seconds(30), 1, {});
  ASSERT_TRUE(dispatcher.next({}));
  const auto view = dispatcher.devices({})[0];
  EXPECT_DOUBLE_EQ(view.speed, 40);
  EXPECT_DOUBLE_EQ(view.rate, 5) << "one window alone takes longer than its part of eight";
  EXPECT_DOUBLE_EQ(view.single, 5);
}

TEST(Dispatcher, CorrectedLengthOfARunningFileUpdatesTimeLeft) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  add_file(dispatcher, 1, Seconds(300));
  const auto grant = dispatcher.next({});
  dispatcher.correct_length(1, Seconds(600), Seconds(1));
  EXPECT_NEAR(dispatcher.queue(Seconds(1)).expected_left->count(), 19, 1e-6);
  dispatcher.finished(grant->id, Seconds(20));
  EXPECT_EQ(dispatcher.devices(Seconds(20))[0].audio_done, Seconds(600));
  ASSERT_EQ(dispatcher.speeds(0).size(), 1u);
  EXPECT_NEAR(dispatcher.speeds(0)[0].speed, 30, 1e-6);
}

TEST(Dispatcher, EndedJobGetsNoGrantsAndItsPiecesInFlightAreDropped) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  dispatcher.add_job(1, {.audio = Seconds(90)}, {});
  dispatcher.offer(1, Seconds(30), 3, {});
  const auto grant = dispatcher.next({});
  dispatcher.end_job(1, Seconds(1));
  dispatcher.finished(grant->id, Seconds(1));
  EXPECT_FALSE(dispatcher.next(Seconds(1)));
  EXPECT_EQ(audio_left(dispatcher, Seconds(1)), 0);
  dispatcher.offer(1, Seconds(30), 1, Seconds(2));
  EXPECT_FALSE(dispatcher.next(Seconds(2)));
}

TEST(Dispatcher, NamesTheDeviceThatTakesTheNextJob) {
  Dispatcher dispatcher = ten_requests(Policy::tutti);
  EXPECT_EQ(dispatcher.next_device({}), 0u);
  take_all(dispatcher, {});
  dispatcher.device_event(0, HealthEvent::lost, "Xid 79", Seconds(1));
  EXPECT_EQ(dispatcher.next_device(Seconds(1)), 1u);
}

}  // namespace
}  // namespace tutti
