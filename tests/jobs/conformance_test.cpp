// What any JobStore must do, whatever it is made of. See store_kinds.h for the kinds it runs on.
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "store_kinds.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

class JobStoreTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Kinds, JobStoreTest, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// ---- submitting

TEST_P(JobStoreTest, RequestingTheSameWorkTwiceAddsItOnce) {
  const std::vector<JobSpec> specs{spec("a"), spec("b")};
  const auto first = *store_->submit(run(), specs);
  const auto second = *store_->submit(run(), specs);
  EXPECT_EQ(first[0].what, Submitted::What::added);
  EXPECT_EQ(second[0].what, Submitted::What::kept);
  EXPECT_EQ(first[1].id, second[1].id);
  EXPECT_EQ(store_->counts({})->total(), 2);
}

TEST_P(JobStoreTest, NameAndPriorityAreThoseOfTheLastSubmission) {
  const JobId id = add("a"), other = add("b");
  measure(id, Seconds(61));
  const StoreTime submitted = job(id).submitted;
  clock_.advance(9min);
  JobSpec again = spec("a");
  again.job_class = JobClass::normal;
  again.priority = 2;
  again.uuid = "0b5c6e3e-0000-4000-8000-000000000001";
  again.name = "A talk";
  again.extra = R"({"decade":1970})";
  const Submitted answer = store_->submit(run(), std::vector{again})->at(0);
  EXPECT_EQ(answer.what, Submitted::What::kept);
  EXPECT_EQ(answer.submitted, submitted);
  const Job kept = job(id);
  EXPECT_EQ(kept.spec.job_class, JobClass::normal);
  EXPECT_EQ(kept.spec.priority, 2);
  EXPECT_EQ(kept.spec.uuid, again.uuid);
  EXPECT_EQ(kept.spec.name, "A talk");
  EXPECT_EQ(kept.spec.extra, again.extra);
  EXPECT_EQ(kept.spec.audio, Seconds(61)) << "measured, and not overridden";
  EXPECT_EQ(kept.submitted, submitted) << "it has waited since then";
  again = spec("b");
  again.priority = 1;
  store_->submit(run(), std::vector{again});
  JobSpec rival = spec("c");
  rival.priority = 1;
  add(rival);
  EXPECT_EQ(claim()->job.id, id) << "a class goes before any priority";
  EXPECT_EQ(claim()->job.id, other) << "as urgent, and it has waited for longer";
}

TEST_P(JobStoreTest, EveryFieldOfAJobComesBack) {
  JobSpec sent = spec("ä 'quoted' \"name\"");
  sent.audio = Seconds(61.5);
  sent.length = LengthSource::claimed;
  sent.job_class = JobClass::interactive;
  sent.priority = -3;
  sent.deadline = StoreTime(5s);
  sent.uuid = "0b5c6e3e-0000-4000-8000-000000000001";
  sent.name = "A talk";
  sent.extra = R"({"decade":1970,"notes":"ünïcode"})";
  const JobSpec found = job(add(sent)).spec;
  EXPECT_EQ(found.key, sent.key);
  EXPECT_EQ(found.batch, sent.batch);
  EXPECT_EQ(found.input, sent.input);
  EXPECT_EQ(found.identity, sent.identity);
  EXPECT_EQ(found.options, sent.options);
  EXPECT_EQ(found.audio, sent.audio);
  EXPECT_EQ(found.length, sent.length);
  EXPECT_EQ(found.job_class, sent.job_class);
  EXPECT_EQ(found.priority, sent.priority);
  EXPECT_EQ(found.deadline, sent.deadline);
  EXPECT_EQ(found.uuid, sent.uuid);
  EXPECT_EQ(found.name, sent.name);
  EXPECT_EQ(found.extra, sent.extra);
}

TEST_P(JobStoreTest, DoneJobStaysDoneUntilItsAudioChanges) {
  const JobId id = add("a");
  ASSERT_TRUE(complete(*claim()));
  EXPECT_EQ(store_->submit(run(), std::vector{spec("a")})->at(0).state, JobState::done);
  JobSpec changed = spec("a");
  changed.identity.modified_ns = 8;
  const Submitted again = store_->submit(run(), std::vector{changed})->at(0);
  EXPECT_EQ(again.id, id);
  EXPECT_EQ(again.what, Submitted::What::renewed);
  EXPECT_EQ(state(id), JobState::queued);
  EXPECT_TRUE(store_->outputs(id)->empty());
}

TEST_P(JobStoreTest, SubmittingOtherInputForAnOutputReportsTheFormerInput) {
  add("a");
  JobSpec other = spec("a");
  other.input = "/elsewhere/a.wav";
  EXPECT_EQ(store_->submit(run(), std::vector{other})->at(0).was, "") << "nothing was made yet";
  ASSERT_TRUE(complete(*claim()));
  other.identity.modified_ns = 8;
  EXPECT_EQ(store_->submit(run(), std::vector{other})->at(0).was, "") << "it was made of the same file, as it was";
  ASSERT_TRUE(complete(*claim()));
  EXPECT_EQ(store_->submit(run(), std::vector{spec("a")})->at(0).was, "/elsewhere/a.wav");
}

TEST_P(JobStoreTest, ADoneJobWhoseAudioIsAwayForNowStaysDone) {
  const JobId id = add("a");
  ASSERT_TRUE(complete(*claim()));
  JobSpec away = spec("a");
  away.identity = {};
  EXPECT_EQ(store_->submit(run(), std::vector{away})->at(0).state, JobState::done);
  EXPECT_EQ(store_->submit(run(), std::vector{spec("a")})->at(0).state, JobState::done)
      << "and is known when it is back";
  EXPECT_FALSE(store_->outputs(id)->empty());
}

TEST_P(JobStoreTest, ChangedOptionsFenceOffTheOldLease) {
  add("a");
  const Lease old = *claim();
  JobSpec changed = spec("a");
  changed.options = "small";
  store_->submit(run(), std::vector{changed});
  EXPECT_FALSE(complete(old));
  const Lease fresh = *claim();
  EXPECT_EQ(fresh.job.spec.options, "small");
  EXPECT_TRUE(complete(fresh));
}

// ---- claiming (its order: conformance_order_test.cpp)

TEST_P(JobStoreTest, RequestedJobIsClaimedOutOfOrderAndOnlyOnce) {
  add("a");
  const JobId requested = add("b");
  EXPECT_EQ((*store_->claim({.jobs = {requested}}))->job.id, requested);
  EXPECT_FALSE(*store_->claim({.jobs = {requested}}));
}

TEST_P(JobStoreTest, ABatchIsClaimedApartFromOthers) {
  JobSpec other = spec("a");
  other.batch = "other";
  add(other);
  EXPECT_FALSE(*store_->claim({.batch = "b"}));
  EXPECT_TRUE(*store_->claim({.batch = "other"}));
}

TEST_P(JobStoreTest, TwoOpenStoresNeverGetTheSameJob) {
  std::vector<JobSpec> specs;
  for (int i = 0; i < 80; ++i) specs.push_back(spec(std::to_string(i)));
  store_->submit(run(), specs);
  std::array<std::vector<JobId>, 4> taken;  // two stores claim one by one, two several at once
  {
    std::vector<std::jthread> workers;
    for (auto& mine : taken)
      workers.emplace_back([this, &mine, most = &mine < &taken[2] ? 1U : 7U] {
        const auto own = open();
        for (;;) {
          const auto leases = *own->claim({}, most);
          if (leases.empty()) return;
          for (const Lease& lease : leases) mine.push_back(lease.job.id);
        }
      });
  }
  std::multiset<JobId> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 80U);
  EXPECT_EQ(std::set<JobId>(all.begin(), all.end()).size(), 80U);
}

TEST_P(JobStoreTest, EachOfSeveralClaimedHasItsOwnToken) {
  const JobId a = add("a"), b = add("b");
  const auto leases = *store_->claim({.device = "GPU-1"}, 3);
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_NE(leases[0].key.token, leases[1].key.token);
  EXPECT_FALSE(complete({.key = {a, leases[1].key.token}})) << "a token is one job's";
  for (const Lease& lease : leases) EXPECT_TRUE(complete(lease));
  EXPECT_EQ(state(a), JobState::done);
  EXPECT_EQ(last_attempt(b).device, "GPU-1");
}

TEST_P(JobStoreTest, AClaimThatIsUndoneIsNoAttempt) {
  const JobId id = add("a");
  const Lease lease = *claim();
  EXPECT_TRUE(*store_->undo_claim(lease.key));
  EXPECT_EQ(state(id), JobState::queued);
  EXPECT_EQ(job(id).attempts, 0);
  EXPECT_TRUE(store_->attempts(id)->empty());
  EXPECT_FALSE(complete(lease));
  EXPECT_FALSE(*store_->undo_claim(lease.key));
  const Lease again = *claim();
  EXPECT_EQ(again.attempt, 1);
  ASSERT_EQ(*store_->cancel({}), 1U);
  EXPECT_TRUE(*store_->undo_claim(again.key));
  EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(JobStoreTest, ARunningJobHasTheOwnerOfItsAttempt) {
  const JobId id = add("a");
  EXPECT_EQ(job(id).owner, "");
  const Lease lease = *claim();
  EXPECT_NE(job(id).owner, "");
  EXPECT_EQ(job(id).owner, last_attempt(id).owner);
  ASSERT_TRUE(complete(lease));
  EXPECT_EQ(job(id).owner, "");
}

TEST_P(JobStoreTest, AFailedCallTakesNoOtherThreadsCallWithIt) {
  const RunId good = run();
  constexpr RunId kNoSuchRun = 12345;
  constexpr int kThreads = 8, kCalls = 20;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (int call = 0; call < kCalls; ++call) {
          const std::vector one{spec(std::to_string(thread) + "." + std::to_string(call))};
          const bool intended = thread % 2 == 0;
          if (store_->submit(intended ? good : kNoSuchRun, one).has_value() != intended) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store_->counts({})->total(), kThreads / 2 * kCalls);
}

// ---- leases

TEST_P(JobStoreTest, ExpiredLeaseIsRevokedAndItsHolderFenced) {
  const JobId id = add("a");
  const Lease zombie = *claim();
  clock_.advance(kLeaseLength + 1ms);
  EXPECT_EQ(*store_->reap(), 1U);
  EXPECT_EQ(last_attempt(id).end, AttemptEnd::expired);
  EXPECT_EQ(job(id).strikes, 1);
  clock_.advance(10min);
  const Lease fresh = *claim();
  EXPECT_EQ(fresh.attempt, 2);
  EXPECT_EQ(store_->renew(std::vector<Renewal>{{zombie.key}, {fresh.key}}),
            (std::vector{LeaseStanding::lost, LeaseStanding::held}));
  EXPECT_FALSE(complete(zombie));
  EXPECT_FALSE(store_->fail(zombie.key, {})->held);
  EXPECT_FALSE(*store_->release(zombie.key, "late"));
  EXPECT_FALSE(*store_->cancelled(zombie.key));
  EXPECT_EQ(store_->content_known(zombie.key, "sha")->what, ContentCheck::What::lost);
  EXPECT_TRUE(store_->set_length(zombie.key, Seconds(61), LengthSource::measured));
  EXPECT_FALSE(job(id).spec.audio) << "it may be that of another version";
  EXPECT_TRUE(complete(fresh));
  EXPECT_EQ(state(id), JobState::done);
}

TEST_P(JobStoreTest, RenewingKeepsALeaseAndItsProgress) {
  const JobId id = add("a");
  const Lease lease = *claim();
  for (int i = 0; i < 10; ++i) {
    clock_.advance(kRenewEvery);
    ASSERT_EQ(store_->renew(std::vector<Renewal>{{lease.key, 0.5}})->at(0), LeaseStanding::held);
    EXPECT_EQ(*store_->reap(), 0U);
  }
  EXPECT_EQ(job(id).progress, 0.5);
}

TEST_P(JobStoreTest, SettingTheClockNeitherEndsNorProlongsALease) {
  add("a");
  claim();
  clock_.jump(1h);
  EXPECT_EQ(*store_->reap(), 0U);
  const auto other = open();
  EXPECT_EQ(*other->reap(), 0U);
  clock_.jump(-2h);
  EXPECT_EQ(*open()->reap(), 0U);
  clock_.advance(kLeaseLength + 1ms);
  EXPECT_EQ(*other->reap(), 1U);
}

TEST_P(JobStoreTest, TheJobsOfAnOwnerThatWentAreClaimableAtOnceAndWithoutAStrike) {
  const JobId id = add("a");
  auto other = open();
  const Lease lease = **other->claim({});
  EXPECT_EQ(*store_->reap(), 0U);
  other.reset();
  EXPECT_EQ(*store_->reap(), 1U);
  EXPECT_EQ(job(id).strikes, 0);
  EXPECT_EQ(last_attempt(id).end, AttemptEnd::orphaned);
  EXPECT_EQ(claim()->attempt, 2);
}

TEST_P(JobStoreTest, AfterABootNoLeaseIsLeftAndTimeGoesOn) {
  add("a");
  claim();
  const StoreTime before = store_->now();
  store_.reset();
  clock_.boot_again();
  clock_.jump(-24h);  // and its battery is flat
  store_ = open();
  EXPECT_GE(store_->now(), before);
  EXPECT_EQ(*store_->reap(), 1U);
  EXPECT_TRUE(claim());
}

TEST_P(JobStoreTest, ReleasedJobGetsNoStrike) {
  const JobId id = add("a");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(*store_->release(claim()->key, "drain"));
  EXPECT_EQ(state(id), JobState::queued);
  EXPECT_EQ(job(id).strikes, 0);
  EXPECT_EQ(job(id).attempts, 20);
}

// ---- failing

TEST_P(JobStoreTest, APermanentFailureIsTheEndWithItsReason) {
  const JobId id = add("a");
  const auto after = *store_->fail(claim()->key, {FailureClass::permanent, "no sound in it", {}});
  EXPECT_EQ(after.state, JobState::dead);
  EXPECT_EQ(job(id).error, "no sound in it");
  EXPECT_EQ(last_attempt(id).failure, "permanent");
  EXPECT_FALSE(claim());
}

TEST_P(JobStoreTest, TransientFailuresAreTriedAgainLaterAndFiveTimesAtMost) {
  const JobId id = add("a");
  for (int i = 1; i < 5; ++i) {
    const auto after = *store_->fail(claim()->key, {FailureClass::transient, "network", {}});
    ASSERT_EQ(after.state, JobState::queued);
    ASSERT_LE(after.wait, 10s * (1 << (i - 1)));
    if (after.wait > 0ms) {
      EXPECT_FALSE(claim());
    }
    clock_.advance(after.wait);
  }
  EXPECT_EQ(store_->fail(claim()->key, {FailureClass::transient, "network", {}})->state, JobState::dead);
  EXPECT_EQ(store_->attempts(id)->size(), 5U);
}

TEST_P(JobStoreTest, FirstDeviceAndMemoryFailuresAddNoStrike) {
  const JobId id = add("a");
  for (int i = 0; i < 3; ++i) store_->fail(claim()->key, {FailureClass::device, "lost", {}});
  for (int i = 0; i < 2; ++i) store_->fail(claim()->key, {FailureClass::out_of_memory, "full", {}});
  EXPECT_EQ(job(id).strikes, 0);
  store_->fail(claim()->key, {FailureClass::device, "lost", {}});
  EXPECT_EQ(job(id).strikes, 1);
}

TEST_P(JobStoreTest, AJobIsNotClaimedForTheDeviceItFailedOnWhenThatIsLeftOut) {
  add("a");
  store_->fail(claim("GPU-1")->key, {FailureClass::device, "lost", {}});
  EXPECT_FALSE(*store_->claim({.device = "GPU-1", .not_failed_on = "GPU-1"}));
  EXPECT_TRUE(*store_->claim({.device = "GPU-2", .not_failed_on = "GPU-2"}));
}

TEST_P(JobStoreTest, RetryFailedQueuesDeadJobsWithACleanSlate) {
  const JobId id = add("a");
  store_->fail(claim()->key, {FailureClass::permanent, "codec", {}});
  EXPECT_EQ(*store_->retry({.batch = "other"}), 0U);
  clock_.advance(24h);
  EXPECT_EQ(*store_->retry({.batch = "b"}), 1U);
  EXPECT_EQ(job(id).strikes, 0);
  EXPECT_EQ(job(id).submitted, store_->now()) << "it has not waited meanwhile";
  EXPECT_EQ(claim()->attempt, 2);
}

// ---- steering

TEST_P(JobStoreTest, CancelEndsQueuedJobsAndNotifiesRunningOnes) {
  const JobId running = add("a");
  const Lease lease = *claim();
  const JobId queued = add("b");
  EXPECT_EQ(*store_->cancel({}), 2U);
  EXPECT_EQ(state(queued), JobState::cancelled);
  EXPECT_EQ(store_->renew(std::vector<Renewal>{{lease.key}})->at(0), LeaseStanding::cancel);
  EXPECT_TRUE(*store_->cancelled(lease.key));
  EXPECT_EQ(state(running), JobState::cancelled);
}

TEST_P(JobStoreTest, ResultAfterACancellationIsNotRecorded) {
  const JobId id = add("a");
  const Lease lease = *claim();
  store_->cancel({});
  EXPECT_FALSE(complete(lease));
  EXPECT_EQ(state(id), JobState::cancelled);
  EXPECT_TRUE(store_->outputs(id)->empty());
  EXPECT_FALSE(complete(lease)) << "its lease has ended";
}

TEST_P(JobStoreTest, ACancelledJobWhoseOwnerWentIsNotTriedAgain) {
  const JobId id = add("a");
  auto other = open();
  ASSERT_TRUE(*other->claim({}));
  store_->cancel({});
  other.reset();
  store_->reap();
  EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(JobStoreTest, HeldJobsWaitUntilTheyAreResumed) {
  add("a");
  EXPECT_EQ(*store_->hold({}), 1U);
  EXPECT_FALSE(claim());
  EXPECT_EQ(*store_->resume({}), 1U);
  EXPECT_TRUE(claim());
}

TEST_P(JobStoreTest, LatestJobsComeFirstAndAreFoundByName) {
  JobSpec talk = spec("a");
  talk.name = "Monday talk.mp3";
  const JobId first = add(talk), second = add("b"), third = add("c");
  const auto ids = [&](const std::string& name, JobId before, std::size_t limit) {
    std::vector<JobId> found;
    const auto jobs = store_->latest_jobs({}, name, before, limit);
    EXPECT_TRUE(jobs) << jobs.error().text();
    for (std::size_t i = 0; jobs && i < jobs->size(); ++i) found.push_back(jobs->at(i).id);
    return found;
  };
  EXPECT_EQ(ids("", 0, 2), (std::vector{third, second}));
  EXPECT_EQ(ids("", second, 2), std::vector{first});
  EXPECT_EQ(ids("mOnDaY", 0, 9), std::vector{first});
  EXPECT_TRUE(ids("Tuesday", 0, 9).empty());
}

TEST_P(JobStoreTest, OpenJobsAreCountedByClassAndState) {
  JobSpec urgent = spec("a");
  urgent.job_class = JobClass::interactive;
  add(urgent);
  add("b");
  complete(*claim());
  add("c");
  std::vector<std::tuple<JobClass, JobState, std::int64_t>> found;
  const auto counts = *store_->open_by_class();
  for (const auto& [job_class, state, jobs] : counts) found.emplace_back(job_class, state, jobs);
  EXPECT_EQ(found, (std::vector{std::tuple(JobClass::batch, JobState::queued, std::int64_t{2})}));
}

TEST_P(JobStoreTest, EndedJobsAreCountedByTheirMinutes) {
  add("a");
  complete(*claim());
  add("b");
  ASSERT_TRUE(store_->fail(claim()->key, {FailureClass::permanent, "no audio", {}}));
  add("c");
  const auto ended = *store_->ended_since(store_->now() - std::chrono::hours(1));
  std::int64_t done = 0, failed = 0;
  for (const EndedJobs& minute : ended) {
    EXPECT_LE(minute.minute, store_->now());
    done += minute.done;
    failed += minute.failed;
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(failed, 1);
  EXPECT_TRUE(store_->ended_since(store_->now() + std::chrono::hours(1))->empty());
}

TEST_P(JobStoreTest, FiltersSelectTheNamedJobs) {
  const JobId a = add("a");
  add("b");
  complete(*store_->claim({.jobs = {a}}).value());
  EXPECT_EQ(store_->counts({.states = {JobState::done, JobState::dead}})->total(), 1);
  EXPECT_EQ(store_->counts({.batch = "b"})->queued, 1);
  EXPECT_EQ(store_->counts({.batch = "none"})->total(), 0);
  EXPECT_EQ(store_->jobs({}, a, 10)->size(), 1U);
  JobSpec other = spec("c");
  other.options = "small";
  const JobId c = add(other);
  EXPECT_EQ(store_->jobs({.options = "small"}, 0, 10)->at(0).id, c);
  EXPECT_EQ(store_->counts({.states = {JobState::queued}, .options = "tiny"})->total(), 1);
  EXPECT_EQ(store_->jobs({}, 0, 1)->at(0).id, a);
}

}  // namespace
}  // namespace tutti
