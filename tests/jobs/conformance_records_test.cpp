// What any JobStore must do with contents, results and history. See store_kinds.h for the kinds it runs on.
#include <gmock/gmock.h>

#include "store_kinds.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class JobStoreRecords : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Kinds, JobStoreRecords, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// ---- the same content twice

TEST_P(JobStoreRecords, ASecondFileWithTheSameContentCopiesTheResultOfTheFirst) {
  const JobId first = add("a");
  add("b");
  const Lease one = **store_->claim({.jobs = {first}});
  EXPECT_EQ(store_->content_known(one.key, "sha")->what, ContentCheck::What::unique);
  complete(one, "a");
  const auto decision = *store_->content_known(claim()->key, "sha");
  EXPECT_EQ(decision.what, ContentCheck::What::copy);
  EXPECT_EQ(decision.same_as, first);
  EXPECT_THAT(decision.same_outputs, ElementsAre(output("a")));
}

TEST_P(JobStoreRecords, OtherOptionsAreNoTwins) {
  const JobId first = add("a");
  JobSpec other = spec("b");
  other.options = "small";
  add(other);
  const Lease one = **store_->claim({.jobs = {first}});
  store_->content_known(one.key, "sha");
  complete(one);
  EXPECT_EQ(store_->content_known(claim()->key, "sha")->what, ContentCheck::What::unique);
}

TEST_P(JobStoreRecords, ATwinOfAFileAtWorkWaitsAndThenCopies) {
  const JobId first = add("a");
  const JobId twin = add("b");
  const Lease one = **store_->claim({.jobs = {first}});
  store_->content_known(one.key, "sha");
  EXPECT_EQ(store_->content_known(claim()->key, "sha")->what, ContentCheck::What::wait);
  EXPECT_EQ(state(twin), JobState::queued);
  EXPECT_FALSE(claim());
  complete(one, "a");
  const auto released = claim();
  ASSERT_TRUE(released);
  EXPECT_THAT(released->same_outputs, ElementsAre(output("a")));
}

TEST_P(JobStoreRecords, ATwinOfAJobThatDiesDoesTheWorkItself) {
  const JobId first = add("a");
  add("b");
  const Lease one = **store_->claim({.jobs = {first}});
  store_->content_known(one.key, "sha");
  store_->content_known(claim()->key, "sha");
  store_->fail(one.key, {FailureClass::permanent, "poison", {}});
  const auto released = claim();
  ASSERT_TRUE(released);
  EXPECT_TRUE(released->same_outputs.empty());
}

TEST_P(JobStoreRecords, ATwinOfAJobThatIsQueuedAgainWaitsNoLonger) {
  const JobId first = add("a");
  const JobId twin = add("b");
  const Lease one = **store_->claim({.jobs = {first}});
  store_->content_known(one.key, "sha");
  ASSERT_EQ(store_->content_known(claim()->key, "sha")->what, ContentCheck::What::wait);
  ASSERT_TRUE(*store_->release(one.key, "its run was stopped"));
  ASSERT_TRUE(*store_->claim({.jobs = {twin}})) << "the first one may never be submitted again";
  const Lease late = **store_->claim({.jobs = {first}});
  EXPECT_EQ(store_->content_known(late.key, "sha")->what, ContentCheck::What::wait) << "it is done once all the same";
}

TEST_P(JobStoreRecords, ATwinOfAJobThatIsToBeTriedAgainDoesNotWaitForThat) {
  const JobId first = add("a");
  const JobId twin = add("b");
  const Lease one = **store_->claim({.jobs = {first}});
  store_->content_known(one.key, "sha");
  ASSERT_EQ(store_->content_known(claim()->key, "sha")->what, ContentCheck::What::wait);
  ASSERT_EQ(store_->fail(one.key, {FailureClass::transient, "its share is away", {}})->state, JobState::queued);
  EXPECT_TRUE(*store_->claim({.jobs = {twin}}));
}

TEST_P(JobStoreRecords, AFileThatWasOnlyTouchedKeepsItsResult) {
  const JobId id = add("a");
  const Lease first = *claim();
  store_->content_known(first.key, "sha");
  complete(first, "a");
  JobSpec touched = spec("a");
  touched.identity.modified_ns = 8;
  ASSERT_EQ(store_->submit(run(), std::vector{touched})->at(0).what, Submitted::What::renewed);
  const auto decision = *store_->content_known(claim()->key, "sha");
  EXPECT_EQ(decision.what, ContentCheck::What::copy);
  EXPECT_EQ(decision.same_as, id);
  EXPECT_THAT(decision.same_outputs, ElementsAre(output("a")));
}

TEST_P(JobStoreRecords, AFileWithOtherContentOrOtherOptionsDoesNot) {
  add("a");
  const Lease first = *claim();
  store_->content_known(first.key, "sha");
  complete(first, "a");
  JobSpec changed = spec("a");
  changed.identity.modified_ns = 8;
  store_->submit(run(), std::vector{changed});
  const Lease second = *claim();
  EXPECT_EQ(store_->content_known(second.key, "other")->what, ContentCheck::What::unique);
  complete(second, "a");
  changed.options = "small";
  changed.identity.modified_ns = 9;
  store_->submit(run(), std::vector{changed});
  EXPECT_EQ(store_->content_known(claim()->key, "other")->what, ContentCheck::What::unique);
}

// ---- results and history

TEST_P(JobStoreRecords, OutputsAreUnpublishedUntilTheyAreMarked) {
  const JobId id = add("a");
  const Lease lease = *claim();
  EXPECT_EQ(*store_->staged_by(lease.key), OutputRecords::StagedBy::at_work);
  complete(lease, "a");
  EXPECT_EQ(*store_->staged_by(lease.key), OutputRecords::StagedBy::at_work);
  EXPECT_EQ(store_->unpublished()->at(0).job, id);
  store_->mark_published(id, "a staged file of another attempt");
  EXPECT_EQ(store_->unpublished()->size(), 1U) << "a holder that was paused knows an old result";
  store_->mark_published(id, output("a").staged);
  EXPECT_TRUE(store_->unpublished()->empty());
  EXPECT_EQ(*store_->staged_by(lease.key), OutputRecords::StagedBy::over);
  EXPECT_EQ(*store_->staged_by({id, "another"}), OutputRecords::StagedBy::other);
  EXPECT_EQ(*store_->redo({.ids = {id}}, JobAdmin::Redo::all), 1U);
  EXPECT_EQ(state(id), JobState::queued);
}

TEST_P(JobStoreRecords, EverythingIsThereAfterOpeningAgain) {
  const JobId id = add("a");
  complete(*claim("GPU-7"), "a");
  store_ = nullptr;
  store_ = open();
  EXPECT_EQ(state(id), JobState::done);
  EXPECT_EQ(store_->outputs(id)->size(), 1U);
  EXPECT_EQ(last_attempt(id).device, "GPU-7");
  EXPECT_EQ(last_attempt(id).busy, Seconds(2));
}

TEST_P(JobStoreRecords, ARunHasHeartbeatsUntilItEnds) {
  const RunId id = *store_->begin_run({.command = "tutti worker", .runner = "host.7"});
  EXPECT_EQ(state_of(store_->runs(1)->at(0)), RunState::unknown);
  EXPECT_TRUE(store_->runs_seen(store_->now() - 1h)->empty());
  ASSERT_TRUE(store_->report_run(id, "at work"));
  RunRecord seen = store_->runs_seen(store_->now() - 1h)->at(0);
  EXPECT_EQ(seen.start.runner, "host.7");
  EXPECT_EQ(seen.status, "at work");
  EXPECT_EQ(state_of(seen), RunState::at_work);
  clock_.advance(2 * std::chrono::ceil<std::chrono::seconds>(kLostAfter));
  seen = store_->runs_seen(store_->now() - 1h)->at(0);
  EXPECT_EQ(state_of(seen), RunState::lost);
  EXPECT_NEAR(seen.silent->count(), 120, 5);
  EXPECT_TRUE(store_->runs_seen(store_->now() - 1min)->empty());
  ASSERT_TRUE(store_->end_run(id, {}));
  ASSERT_TRUE(store_->report_run(id, "too late"));
  seen = store_->runs(1)->at(0);
  EXPECT_EQ(state_of(seen), RunState::ended);
  EXPECT_EQ(seen.status, "at work");
}

TEST_P(JobStoreRecords, ARunIsRememberedWithWhatItsDevicesDid) {
  const RunId id = run();
  EXPECT_FALSE(store_->runs(1)->at(0).ended);
  RunEnd end{.total = 3, .successful = 2, .failed = 1, .elapsed = Seconds(60), .audio = Seconds(1800)};
  end.devices.push_back({.device = "GPU-1",
                         .name = "big",
                         .audio = Seconds(1800),
                         .busy = Seconds(50),
                         .idle = {{"no task", Seconds(10)}},
                         .energy_joules = 9e3,
                         .windows = 70,
                         .window_capacity = 10});
  end.devices.push_back({.device = "GPU-2"});
  ASSERT_TRUE(store_->end_run(id, end));
  const RunRecord found = store_->runs(1)->at(0);
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.end.successful, 2);
  ASSERT_EQ(found.end.devices.size(), 2U);
  EXPECT_EQ(found.end.devices[0].windows, 70);
  EXPECT_EQ(found.end.devices[0].window_capacity, 10);
  EXPECT_FALSE(found.end.devices[1].windows);
  EXPECT_EQ(found.end.devices[0].idle.at("no task"), Seconds(10));
  EXPECT_EQ(found.end.devices[0].energy_joules, 9e3);
  EXPECT_FALSE(found.end.devices[0].cost);  // absent is absent
}

TEST_P(JobStoreRecords, DevicesWithOneIdAreSummedUp) {
  const RunId id = run();
  const DeviceUse twin{.device = "emulated:30x:12GB",
                       .audio = Seconds(30),
                       .busy = Seconds(1),
                       .idle = {{"memory", Seconds(2)}},
                       .windows = 2,
                       .window_capacity = 4};
  ASSERT_TRUE(store_->end_run(id, {.devices = {twin, twin}}));
  const auto devices = store_->runs(1)->at(0).end.devices;
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].audio, Seconds(60));
  EXPECT_EQ(devices[0].idle.at("memory"), Seconds(4));
  EXPECT_EQ(devices[0].windows, 4);
  EXPECT_EQ(devices[0].window_capacity, 4);
}

TEST_P(JobStoreRecords, SpeedsKeepTheirHistory) {
  const SpeedKey key{"GPU-1", "medium", "float16", 4};
  store_->record_speed({.key = key, .speed = 30, .overhead = Seconds(1), .samples = 1});
  clock_.advance(1min);
  store_->record_speed({.key = key, .speed = 32, .overhead = Seconds(1), .samples = 9, .median_error = 0.1});
  EXPECT_EQ(store_->speeds(true)->size(), 2U);
  const auto current = *store_->speeds(false);
  ASSERT_EQ(current.size(), 1U);
  EXPECT_EQ(current[0].speed, 32);
  EXPECT_EQ(current[0].median_error, 0.1);
  EXPECT_EQ(current[0].at, store_->now());
}

TEST_P(JobStoreRecords, EventsComeBackFromATimeOn) {
  store_->record_event({.device = "GPU-1", .kind = "lost", .text = "Xid 79"});
  clock_.advance(1h);
  const StoreTime later = store_->now();
  store_->record_event({.device = "GPU-1", .kind = "returned"});
  EXPECT_EQ(store_->events({})->size(), 2U);
  ASSERT_EQ(store_->events(later)->size(), 1U);
  EXPECT_EQ(store_->events(later)->at(0).kind, "returned");
}

TEST_P(JobStoreRecords, ForgottenJobIsNoLongerThere) {
  const JobId ended = add("a");
  const auto lease = claim();
  ASSERT_TRUE(complete(*lease));
  const JobId waiting = add("b");
  EXPECT_EQ((*store_->find("/out/a"))->id, ended);
  EXPECT_EQ(*store_->forget({.ids = {ended, waiting}}), 1U) << "what has not ended stays";
  EXPECT_FALSE(*store_->find("/out/a"));
  EXPECT_TRUE(*store_->find("/out/b"));
  EXPECT_TRUE(store_->attempts(ended)->empty());
  EXPECT_TRUE(store_->unpublished()->empty());
  EXPECT_NE(add("a"), ended) << "the same work is a new job";
}

}  // namespace
}  // namespace tutti
