// The order in which any JobStore grants its jobs to a claim without conditions: class, then priority and waiting time,
// then deadline and size. See store_kinds.h for the kinds of store it runs on.
#include <gmock/gmock.h>

#include "store_kinds.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class JobStoreOrder : public StoreTest {
 protected:
  JobSpec lasting(const std::string& name, double audio, JobClass job_class = JobClass::batch) {
    JobSpec requested = spec(name);
    requested.audio = Seconds(audio);
    requested.job_class = job_class;
    return requested;
  }
  /// Keys of all that can be claimed, in the order in which it is.
  std::vector<std::string> claimed() {
    std::vector<std::string> order;
    while (const auto lease = claim()) order.push_back(lease->job.spec.key);
    return order;
  }

  std::vector<LeaseKey> held_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, JobStoreOrder, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(JobStoreOrder, ClassesGoBeforePrioritiesAndLongerAudioFirst) {
  const RunId one = run();
  std::vector<JobSpec> specs;
  for (const char* name : {"short", "long", "urgent", "asked"}) specs.push_back(spec(name));
  specs[0].audio = Seconds(10);
  specs[1].audio = Seconds(9000);
  specs[2].job_class = JobClass::interactive;
  specs[3].priority = 1;
  store_->submit(one, specs);
  EXPECT_THAT(claimed(), ElementsAre("/out/urgent", "/out/asked", "/out/long", "/out/short"));
}

TEST_P(JobStoreOrder, InteractiveJobsGoByDeadlineThenShortestFirst) {
  std::vector<JobSpec> specs;
  for (const char* name : {"longer", "shorter", "due"}) specs.push_back(spec(name));
  for (auto& each : specs) each.job_class = JobClass::interactive;
  specs[0].audio = Seconds(100);
  specs[1].audio = Seconds(10);
  specs[2].deadline = clock_.wall() + 60s;
  store_->submit(run(), specs);
  EXPECT_THAT(claimed(), ElementsAre("/out/due", "/out/shorter", "/out/longer"));
}

TEST_P(JobStoreOrder, WaitingTenMinutesCountsOnePriority) {
  add("old");
  clock_.advance(10min + 1s);
  JobSpec fresh = spec("fresh");
  fresh.priority = 1;
  add(fresh);
  EXPECT_EQ(claim()->job.spec.key, "/out/old");
}

TEST_P(JobStoreOrder, ALengthThatBecomesKnownChangesTheOrderAndAWorseOneIsIgnored) {
  const JobId shorter = add("a");
  const JobId longer = add("b");
  measure(longer, Seconds(8000), LengthSource::probed);
  measure(longer, Seconds(1), LengthSource::claimed);
  measure(shorter, Seconds(20), LengthSource::probed);
  EXPECT_EQ(job(longer).spec.audio, Seconds(8000));
  // Both were submitted at the same moment: only the length differs.
  EXPECT_EQ(claim()->job.id, longer);
}

TEST_P(JobStoreOrder, JobsSubmittedInPortionsFormOneQueue) {
  add(lasting("short", 10));
  clock_.advance(50ms);
  add(lasting("long", 9000));
  clock_.advance(50ms);
  add(lasting("middle", 100));
  EXPECT_THAT(claimed(), ElementsAre("/out/long", "/out/middle", "/out/short"));
}

TEST_P(JobStoreOrder, DeadlinePrecedesAJobSubmittedJustEarlier) {
  add(lasting("first", 10, JobClass::interactive));
  clock_.advance(1s);
  JobSpec due = lasting("due", 100, JobClass::interactive);
  due.deadline = clock_.wall() + 1h;
  add(due);
  EXPECT_THAT(claimed(), ElementsAre("/out/due", "/out/first"));
}

TEST_P(JobStoreOrder, NormalJobsRunInOrderOfSubmissionNotLength) {
  const JobId done = add(lasting("again", 100, JobClass::normal));
  ASSERT_TRUE(complete(*claim()));
  add(lasting("short", 10, JobClass::normal));
  add(lasting("long", 9000, JobClass::normal));
  clock_.advance(1s);
  ASSERT_EQ(*store_->redo({.ids = {done}}, JobAdmin::Redo::all), 1U);
  EXPECT_THAT(claimed(), ElementsAre("/out/short", "/out/long", "/out/again"))
      << "what is queued again waits from then on";
}

TEST_P(JobStoreOrder, ClaimOfABatchIsOfThatBatchInTheSameOrder) {
  for (const char* name : {"a", "b", "c", "d"}) {
    JobSpec other = lasting(name, 10);
    if (*name > 'b') other.batch = "mine";
    if (*name == 'd') other.priority = 1;
    add(other);
  }
  const auto next = [&] { return *store_->claim({.batch = "mine"}); };
  EXPECT_EQ(next()->job.spec.key, "/out/d");
  EXPECT_EQ(next()->job.spec.key, "/out/c");
  EXPECT_FALSE(next());
  EXPECT_THAT(*store_->waiting_batches("b"), ElementsAre("b"));
}

TEST_P(JobStoreOrder, WaitingBatchesHaveThePrefixAndQueuedJobs) {
  for (const char* batch : {"/v1/jobs/b", "/v1/jobs/a", "/v1/jobs/b", "/v1/jobs", "/v1/jobs0", "/v1/job/s"}) {
    JobSpec job = lasting(std::string("of ") + batch, 10);
    job.batch = batch;
    add(job);
  }
  EXPECT_THAT(*store_->waiting_batches("/v1/jobs/"), ElementsAre("/v1/jobs/a", "/v1/jobs/b"));
  ASSERT_TRUE(*store_->claim({.batch = "/v1/jobs/a"}));
  EXPECT_THAT(*store_->waiting_batches("/v1/jobs/"), ElementsAre("/v1/jobs/b"));
  EXPECT_THAT(*store_->waiting_batches("/v2/"), ElementsAre());
}

TEST_P(JobStoreOrder, ClaimTakesNoJobOfALessUrgentClass) {
  add(lasting("bulk", 10));
  add(lasting("normal", 10, JobClass::normal));
  EXPECT_FALSE(*store_->claim({.most = JobClass::interactive}));
  EXPECT_EQ((*store_->claim({.most = JobClass::normal}))->job.spec.key, "/out/normal");
  EXPECT_FALSE(*store_->claim({.most = JobClass::normal}));
  EXPECT_EQ((*store_->claim({}))->job.spec.key, "/out/bulk");
}

TEST_P(JobStoreOrder, ClaimOfSeveralIsInTheOrderOfSingleClaims) {
  std::vector<JobSpec> specs;
  for (int i = 0; i < 12; ++i)
    specs.push_back(lasting(std::to_string(i), i * 7 % 5, i % 4 == 0 ? JobClass::interactive : JobClass::batch));
  specs[5].priority = 2;
  ASSERT_TRUE(store_->submit(run(), specs));
  std::vector<std::string> several;
  for (const std::size_t most : {5U, 1U, 50U}) {
    const auto leases = *store_->claim({}, most);
    EXPECT_LE(leases.size(), most);
    for (const Lease& lease : leases) several.push_back(lease.job.spec.key);
    for (const Lease& lease : leases) held_.push_back(lease.key);
  }
  EXPECT_TRUE(store_->claim({}, 50)->empty());
  for (const LeaseKey& key : held_) ASSERT_TRUE(*store_->release(key, "once more"));
  EXPECT_EQ(several, claimed());
}

TEST_P(JobStoreOrder, NamedJobsAreClaimedInTheOrderNamed) {
  const JobId a = add(lasting("a", 10)), b = add(lasting("b", 1000)), c = add(lasting("c", 100));
  const JobId elsewhere = add("elsewhere");
  ASSERT_TRUE(*store_->claim({.jobs = {elsewhere}}));
  std::vector<JobId> order;
  const auto leases = *store_->claim({.jobs = {elsewhere, c, 12345, a, b}}, 2);
  for (const Lease& lease : leases) order.push_back(lease.key.job);
  EXPECT_THAT(order, ElementsAre(c, a));
  EXPECT_EQ(state(b), JobState::queued) << "two were requested";
}

TEST_P(JobStoreOrder, StreamOfUrgentJobsStarvesNoJob) {
  add(lasting("patient", 10));
  int before = 0;
  for (; before < 20; ++before) {
    JobSpec urgent = lasting(std::to_string(before), 9000);
    urgent.priority = 3;
    add(urgent);
    const auto next = claim();
    if (next->job.spec.key == "/out/patient") break;
    clock_.advance(10min);
  }
  EXPECT_EQ(before, 4) << "after forty minutes it is above what has just come with three";
}

}  // namespace
}  // namespace tutti
