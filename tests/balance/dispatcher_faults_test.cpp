#include <gtest/gtest.h>

#include "balance/dispatcher.h"
#include "driving.h"

namespace tutti {
namespace {

Dispatcher two_cards(int slots = 2) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, slots), {});
  dispatcher.add_device(device("b", 30, slots), {});
  return dispatcher;
}

DeviceState state_of(Dispatcher& dispatcher, DeviceIndex index, Seconds now) {
  return dispatcher.devices(now)[index].state;
}

TEST(DispatcherFaults, LostWorkersWorkIsRetriedElsewhereAndAlone) {
  Dispatcher dispatcher = two_cards();
  for (JobKey id = 0; id < 6; ++id) add_file(dispatcher, id, Seconds(300));
  const auto grants = take_all(dispatcher, {});
  ASSERT_EQ(grants.size(), 4u);
  std::vector<JobKey> victims;
  for (const auto& grant : grants)
    if (grant.device == 0) {
      victims.push_back(grant.job);
      EXPECT_EQ(dispatcher.failed(grant.id, Blame::device, "killed by signal 9", Seconds(1)).next,
                FailureDecision::Next::retry);
    }
  EXPECT_EQ(state_of(dispatcher, 0, Seconds(1)), DeviceState::suspect) << "one worker lost is one failure";
  const auto meanwhile = take_all(dispatcher, Seconds(1));
  for (const auto& grant : meanwhile) EXPECT_EQ(grant.device, 0u) << "b is being cleared for a victim";
  for (const auto& grant : grants)
    if (grant.device == 1) dispatcher.finished(grant.id, Seconds(10));
  const auto alone = take_all(dispatcher, Seconds(10));
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].device, 1u);
  EXPECT_NE(std::find(victims.begin(), victims.end(), alone[0].job), victims.end());
}

TEST(DispatcherFaults, JobThatKillsTwoWorkersFailsAndDevicesAreCleared) {
  Dispatcher dispatcher = two_cards(1);
  add_file(dispatcher, 7, Seconds(300));
  const auto first = dispatcher.next({});
  EXPECT_EQ(dispatcher.failed(first->id, Blame::device, "killed by signal 11", Seconds(1)).next,
            FailureDecision::Next::retry);
  const auto second = dispatcher.next(Seconds(1));
  ASSERT_TRUE(second);
  EXPECT_NE(second->device, first->device);
  const FailureDecision result = dispatcher.failed(second->id, Blame::device, "killed by signal 11", Seconds(2));
  EXPECT_EQ(result.next, FailureDecision::Next::failed);
  EXPECT_NE(result.reason.find("a: killed by signal 11; b: killed by signal 11"), std::string::npos) << result.reason;
  dispatcher.end_job(7, Seconds(2));
  EXPECT_EQ(state_of(dispatcher, 0, Seconds(2)), DeviceState::healthy);
  EXPECT_EQ(state_of(dispatcher, 1, Seconds(2)), DeviceState::healthy);
  EXPECT_FALSE(dispatcher.next(Seconds(3)));
}

/// Two files lose a worker together; the next one finishes one of them and is lost with the other.
FailureDecision second_loss_after_other_work(bool fresh_worker_decides) {
  Dispatcher dispatcher({.fresh_worker_decides = fresh_worker_decides});
  dispatcher.add_device(device("a", 30, 2), {});
  for (const JobKey id : {7, 8}) add_file(dispatcher, id, Seconds(300));
  for (const auto& grant : take_all(dispatcher, {})) dispatcher.failed(grant.id, Blame::device, "it died", Seconds(1));
  dispatcher.device_event(0, HealthEvent::restarting, "it died", Seconds(1));
  dispatcher.device_event(0, HealthEvent::ready, "", Seconds(2));
  const auto first = dispatcher.next(Seconds(2)).value();
  dispatcher.finished(first.id, Seconds(3));
  dispatcher.end_job(first.job, Seconds(3));
  const auto second = dispatcher.next(Seconds(3)).value();
  return dispatcher.failed(second.id, Blame::device, "it died", Seconds(4));
}

TEST(DispatcherFaults, WhereAFreshWorkerDecidesOneThatHadOtherWorkDoesNot) {
  EXPECT_EQ(second_loss_after_other_work(false).next, FailureDecision::Next::failed);
  EXPECT_EQ(second_loss_after_other_work(true).next, FailureDecision::Next::retry);
}

/// Finishes a job on every device, so that each has worked once.
void warm_up(Dispatcher& dispatcher, Seconds now) {
  for (JobKey id = 100; id < 102; ++id) add_file(dispatcher, id, Seconds(300), now);
  for (const auto& grant : take_all(dispatcher, now)) {
    dispatcher.finished(grant.id, now);
    dispatcher.end_job(grant.job, now);
  }
}

TEST(DispatcherFaults, WhereWorkersAreKilledFromOutsideItTakesThreeToSetAJobAside) {
  Dispatcher dispatcher = two_cards(1);
  dispatcher.add_device(device("c", 30, 1), {});
  add_file(dispatcher, 7, Seconds(300));
  for (int loss = 1; loss <= 3; ++loss) {
    const auto grant = dispatcher.next(Seconds(loss));
    ASSERT_TRUE(grant);
    const FailureDecision result = dispatcher.failed(grant->id, Blame::unclear, "killed by signal 9", Seconds(loss));
    EXPECT_EQ(result.next == FailureDecision::Next::failed, loss == 3) << loss;
  }
}

TEST(DispatcherFaults, DeviceLostByDriverBlamesNoJob) {
  Dispatcher dispatcher = two_cards(1);
  add_file(dispatcher, 7, Seconds(300));
  for (int loss = 1; loss <= 2; ++loss) {
    const auto grant = dispatcher.next(Seconds(loss));
    ASSERT_TRUE(grant);
    EXPECT_EQ(dispatcher.failed(grant->id, Blame::lost, "Xid 79", Seconds(loss)).next, FailureDecision::Next::retry);
  }
}

TEST(DispatcherFaults, FailuresOnLongIdleDevicesBlameNoJob) {
  Dispatcher dispatcher = two_cards(1);
  warm_up(dispatcher, {});
  add_file(dispatcher, 7, Seconds(300), Seconds(1000));
  for (int loss = 1; loss <= 4; ++loss) {
    const auto grant = dispatcher.next(Seconds(1000 + loss));
    ASSERT_TRUE(grant) << loss;
    EXPECT_EQ(dispatcher.failed(grant->id, Blame::device, "no kernel image", Seconds(1000 + loss)).next,
              FailureDecision::Next::retry);
  }
}

TEST(DispatcherFaults, ACardThatFailsAgainWithoutTheJobTakesItsBlameBack) {
  Dispatcher dispatcher = two_cards(1);
  add_file(dispatcher, 7, Seconds(300));
  const auto first = dispatcher.next({});
  dispatcher.failed(first->id, Blame::device, "killed by signal 11", Seconds(1));
  const auto second = dispatcher.next(Seconds(1));
  ASSERT_TRUE(second && second->device != first->device);
  add_file(dispatcher, 8, Seconds(300), Seconds(1));
  const auto other = dispatcher.next(Seconds(1));
  ASSERT_TRUE(other && other->device == first->device);
  dispatcher.failed(other->id, Blame::device, "killed by signal 11", Seconds(2));
  const FailureDecision result = dispatcher.failed(second->id, Blame::device, "killed by signal 11", Seconds(2));
  EXPECT_EQ(result.next, FailureDecision::Next::retry)
      << "the first card is ill, and only one is left to speak against 7";
}

TEST(DispatcherFaults, DeadDeviceGetsThreeJobsOnlyAndAllFinishElsewhere) {
  Dispatcher dispatcher = two_cards(1);
  for (JobKey id = 0; id < 40; ++id) add_file(dispatcher, id, Seconds(300));
  int on_dead = 0, done = 0;
  std::optional<Grant> running;
  for (double now = 0; done < 40 && now < 2000; now += 1) {
    while (const auto grant = dispatcher.next(Seconds(now))) {
      if (grant->device == 1) {
        running = grant;
        continue;
      }
      on_dead += grant->canary ? 0 : 1;
      const FailureDecision result = dispatcher.failed(grant->id, Blame::device, "no kernel image", Seconds(now));
      EXPECT_NE(result.next, FailureDecision::Next::failed) << "the card is to blame";
    }
    if (!running || static_cast<int>(now) % 10 != 9) continue;
    dispatcher.finished(running->id, Seconds(now));
    dispatcher.end_job(running->job, Seconds(now));
    running.reset();
    ++done;
  }
  EXPECT_EQ(done, 40);
  EXPECT_EQ(on_dead, 3);
}

TEST(DispatcherFaults, LostDeviceGetsNoMoreGrants) {
  Dispatcher dispatcher = two_cards(2);
  for (JobKey id = 0; id < 20; ++id) add_file(dispatcher, id, Seconds(300));
  take_all(dispatcher, {});
  dispatcher.device_event(0, HealthEvent::lost, "Xid 79", Seconds(1));
  for (const auto& grant : take_all(dispatcher, Seconds(1))) EXPECT_NE(grant.device, 0u);
  EXPECT_EQ(dispatcher.health_changes(0).back().to, DeviceState::lost);
  EXPECT_EQ(dispatcher.health_changes(0).back().reason, "Xid 79");
}

TEST(DispatcherFaults, AfterItsBackOffACardIsProbedByOneCanaryAtATime) {
  Dispatcher dispatcher = two_cards(1);
  for (JobKey id = 0; id < 9; ++id) add_file(dispatcher, id, Seconds(3000));
  for (int i = 0; i < 3; ++i)
    for (const auto& grant : take_all(dispatcher, Seconds(i)))
      if (grant.device == 0) dispatcher.failed(grant.id, Blame::device, "hung", Seconds(i));
  ASSERT_EQ(state_of(dispatcher, 0, Seconds(3)), DeviceState::open);
  ASSERT_TRUE(dispatcher.wake_at());
  const Seconds back = *dispatcher.wake_at();
  const auto canaries = take_all(dispatcher, back);
  ASSERT_EQ(canaries.size(), 1u);
  EXPECT_TRUE(canaries[0].canary);
  EXPECT_EQ(canaries[0].device, 0u);
  dispatcher.finished(canaries[0].id, back);
  const auto second = take_all(dispatcher, back);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(second[0].canary);
  dispatcher.finished(second[0].id, back);
  const auto work = take_all(dispatcher, back);
  ASSERT_EQ(work.size(), 1u);
  EXPECT_FALSE(work[0].canary);
}

TEST(DispatcherFaults, ACanaryEndsWithItsWorkerAndTheNextOneIsGranted) {
  Dispatcher dispatcher = two_cards(1);
  dispatcher.device_event(0, HealthEvent::lost, "Xid 79", {});
  dispatcher.device_event(0, HealthEvent::returned, "enumerates again", Seconds(1));
  const auto first = dispatcher.next(Seconds(1));
  ASSERT_TRUE(first && first->canary);
  dispatcher.device_event(0, HealthEvent::lost, "did not get ready", Seconds(2));
  dispatcher.finished(first->id, Seconds(3));  // too late: the grant is unknown by now
  dispatcher.device_event(0, HealthEvent::returned, "ready at last", Seconds(4));
  const auto second = dispatcher.next(Seconds(4));
  ASSERT_TRUE(second && second->canary);
}

TEST(DispatcherFaults, OutOfMemoryHalvesTheSlotsAndBlamesNoJob) {
  Dispatcher dispatcher;
  auto facts = device("a", 30, 8);
  facts.enough = 4;
  dispatcher.add_device(facts, {});
  dispatcher.add_job(1, {.audio = Seconds(3000)}, {});
  dispatcher.offer(1, Seconds(30), 100, {});
  auto grants = take_all(dispatcher, {});
  ASSERT_EQ(grants.size(), 8u);
  EXPECT_EQ(dispatcher.failed(grants[0].id, Blame::exhausted, "out of memory", Seconds(1)).next,
            FailureDecision::Next::retry);
  for (std::size_t i = 1; i < grants.size(); ++i) dispatcher.finished(grants[i].id, Seconds(2));
  EXPECT_EQ(take_all(dispatcher, Seconds(2)).size(), 4u);
  EXPECT_EQ(state_of(dispatcher, 0, Seconds(2)), DeviceState::healthy) << "it is no fault of the device";
  EXPECT_EQ(dispatcher.devices(Seconds(602))[0].slots, 5) << "one more after ten minutes";
}

/// A device with ten slots, all used by windows of one job.
struct FullCard {
  FullCard() {
    auto facts = device("a", 30, 10);
    facts.enough = 5;
    dispatcher.add_device(facts, {});
    dispatcher.add_job(1, {.audio = Seconds(30000)}, {});
    dispatcher.offer(1, Seconds(30), 1000, {});
    grants = take_all(dispatcher, {});
  }
  int capacity(Seconds now) { return dispatcher.devices(now)[0].slots; }
  /// So many windows come to their end, one after the other.
  void finish(int windows, Seconds now) {
    for (int i = 0; i < windows; ++i) {
      dispatcher.finished(grants.back().id, now);
      grants.pop_back();
      for (const Grant& grant : take_all(dispatcher, now)) grants.insert(grants.begin(), grant);
    }
  }
  Dispatcher dispatcher{};
  std::vector<Grant> grants{};
};

TEST(DispatcherFaults, WindowsThatRunOutOfMemoryTogetherHalveOnce) {
  FullCard card;
  ASSERT_EQ(card.grants.size(), 10u);
  for (std::size_t i = 0; i < 5; ++i)
    card.dispatcher.failed(card.grants[i].id, Blame::exhausted, "out of memory", Seconds(1));
  EXPECT_EQ(card.capacity(Seconds(1)), 5) << "all were in flight when the first one did not fit";
  const auto loss = card.dispatcher.devices(Seconds(1))[0].memory_loss;
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->times, 5);
  EXPECT_EQ(loss->all, 10);
  EXPECT_EQ(loss->least, 5);
  EXPECT_EQ(loss->now, 5);
}

TEST(DispatcherFaults, AfterOutOfMemoryMoreWindowsAreTriedStepByStep) {
  FullCard card;
  card.dispatcher.failed(card.grants[0].id, Blame::exhausted, "out of memory", Seconds(1));
  card.grants.erase(card.grants.begin());
  card.finish(9, Seconds(2));
  EXPECT_EQ(card.capacity(Seconds(2)), 5);
  card.finish(1, Seconds(2));
  EXPECT_EQ(card.capacity(Seconds(2)), 6) << "twice five have been done";
  card.finish(12 + 14 + 16 + 18, Seconds(3));
  EXPECT_EQ(card.capacity(Seconds(3)), 10) << "within one run, and not after ten minutes each";
  const auto& changes = card.dispatcher.memory_changes(0);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].is_short);
  EXPECT_EQ(changes[0].reason,
            "out of memory with 10 windows in flight: at most 5 from now on, and one more when 10 have been done");
  EXPECT_EQ(changes[1].reason, "all 10 windows at once are tried again");
  EXPECT_FALSE(card.dispatcher.devices(Seconds(3))[0].memory_loss->now);
}

TEST(DispatcherFaults, ADeviceThatRunsOutAgainIsTriedMoreCarefully) {
  FullCard card;
  card.dispatcher.failed(card.grants[0].id, Blame::exhausted, "out of memory", Seconds(1));
  card.grants.erase(card.grants.begin());
  card.finish(10, Seconds(2));
  ASSERT_EQ(card.capacity(Seconds(2)), 6);
  card.dispatcher.failed(card.grants.front().id, Blame::exhausted, "out of memory", Seconds(3));
  card.grants.erase(card.grants.begin());
  ASSERT_EQ(card.capacity(Seconds(3)), 3);
  card.finish(11, Seconds(4));
  EXPECT_EQ(card.capacity(Seconds(4)), 3) << "twice as many have to be done first";
  card.finish(1, Seconds(4));
  EXPECT_EQ(card.capacity(Seconds(4)), 4);
}

TEST(DispatcherFaults, JobThatDoesNotFitAloneFails) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  add_file(dispatcher, 1, Seconds(300));
  const auto first = dispatcher.next({});
  EXPECT_EQ(dispatcher.failed(first->id, Blame::exhausted, "out of memory", {}).next, FailureDecision::Next::retry);
  const auto second = dispatcher.next({});
  const FailureDecision result = dispatcher.failed(second->id, Blame::exhausted, "out of memory", {});
  EXPECT_EQ(result.next, FailureDecision::Next::failed);
  EXPECT_NE(result.reason.find("does not fit"), std::string::npos);
}

TEST(DispatcherFaults, PermanentFailureFailsTheJobAndCancelledPieceBlamesNone) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("a", 30, 1), {});
  add_file(dispatcher, 1, Seconds(300));
  const auto cancelled_grant = dispatcher.next({});
  EXPECT_EQ(dispatcher.failed(cancelled_grant->id, Blame::cancelled, "", {}).next, FailureDecision::Next::retry);
  const auto again = dispatcher.next({});
  ASSERT_TRUE(again);
  EXPECT_EQ(dispatcher.failed(again->id, Blame::permanent, "no audio in it", {}).next, FailureDecision::Next::failed);
}

TEST(DispatcherFaults, WorkContinuesWhenOneOfAllLostDevicesReturns) {
  Dispatcher dispatcher = two_cards(1);
  for (JobKey id = 0; id < 4; ++id) add_file(dispatcher, id, Seconds(300));
  const auto grants = take_all(dispatcher, {});
  for (const DeviceIndex card : {0u, 1u}) dispatcher.device_event(card, HealthEvent::lost, "Xid 79", Seconds(1));
  for (const auto& grant : grants) dispatcher.failed(grant.id, Blame::device, "lost", Seconds(1));
  EXPECT_FALSE(dispatcher.next(Seconds(100)));
  EXPECT_EQ(dispatcher.devices(Seconds(100))[0].why_idle, Idle::fault);
  dispatcher.device_event(1, HealthEvent::returned, "enumerates again", Seconds(200));
  for (int i = 0; i < 2; ++i) {
    const auto canary = dispatcher.next(Seconds(200));
    ASSERT_TRUE(canary && canary->canary);
    dispatcher.finished(canary->id, Seconds(200));
  }
  std::size_t done = 0;
  for (double now = 201; done < 4 && now < 300; ++now)
    for (const auto& grant : take_all(dispatcher, Seconds(now))) {
      EXPECT_EQ(grant.device, 1u);
      dispatcher.finished(grant.id, Seconds(now));
      dispatcher.end_job(grant.job, Seconds(now));
      ++done;
    }
  EXPECT_EQ(done, 4u);
}

}  // namespace
}  // namespace tutti
