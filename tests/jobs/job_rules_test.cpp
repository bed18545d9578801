// The rules that every store carries out; tests/jobs/conformance_*_test.cpp hold the stores to them.

#include "jobs/job_rules.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

StoreTime at(std::chrono::milliseconds time) {
  return StoreTime(std::chrono::hours(480'000) + time);
}

Job known(JobState state) {
  Job job{.id = 7, .spec = {.key = "/out/a", .input = "/in/a.mp3", .identity = {100, 7}, .options = "tiny"}};
  job.state = state;
  job.spec.audio = Seconds(61);
  job.spec.length = LengthSource::measured;
  return job;
}

JobSpec requested(const JobSpec& same) {
  JobSpec spec = same;
  spec.audio = {};
  spec.length = LengthSource::unknown;
  spec.name = "A talk";
  spec.priority = 2;
  return spec;
}

TEST(JobRules, SameWorkIsKeptUnderItsNewNameWithItsLength) {
  const Job job = known(JobState::dead);
  JobSpec spec = requested(job.spec);
  spec.identity = {};  // its share is away for now
  const auto decision = decide_request(&job, spec);
  EXPECT_EQ(decision.what, Submitted::What::kept);
  EXPECT_EQ(decision.spec.name, "A talk");
  EXPECT_EQ(decision.spec.priority, 2);
  EXPECT_EQ(decision.spec.audio, Seconds(61));
  EXPECT_EQ(decision.spec.length, LengthSource::measured);
  EXPECT_EQ(decision.spec.identity, job.spec.identity);
}

TEST(JobRules, AnUnknownKeyIsAdded) {
  const auto decision = decide_request(nullptr, requested(known(JobState::queued).spec));
  EXPECT_EQ(decision.what, Submitted::What::added);
  EXPECT_EQ(decision.spec.name, "A talk");
}

TEST(JobRules, OtherOptionsRenewAJobButNotItsDigest) {
  const Job job = known(JobState::done);
  JobSpec spec = requested(job.spec);
  spec.options = "large";
  const auto decision = decide_request(&job, spec);
  EXPECT_EQ(decision.what, Submitted::What::renewed);
  EXPECT_TRUE(decision.keeps_digest) << "it is the same file";
  EXPECT_FALSE(decision.offers_result) << "it is that of other options";
  EXPECT_EQ(decision.was, "");
}

TEST(JobRules, ATouchedFileOffersItsResultUntilItsContentIsKnown) {
  const Job job = known(JobState::done);
  JobSpec spec = requested(job.spec);
  spec.identity.modified_ns = 8;
  const auto decision = decide_request(&job, spec);
  EXPECT_EQ(decision.what, Submitted::What::renewed);
  EXPECT_FALSE(decision.keeps_digest);
  EXPECT_TRUE(decision.offers_result);
  spec.input = "/in/b.mp3";
  EXPECT_EQ(decide_request(&job, spec).was, "/in/a.mp3");
  const Job failed = known(JobState::dead);
  EXPECT_FALSE(decide_request(&failed, spec).offers_result);
  EXPECT_EQ(decide_request(&failed, spec).was, "") << "it wrote nothing";
}

TEST(JobRules, EachConditionOfAClaimCountsAlone) {
  const StoreTime now = at(0ms);
  Job job = known(JobState::queued);
  job.spec.batch = "b";
  job.spec.job_class = JobClass::normal;
  job.not_before = now;
  job.failed_on = "GPU-1";
  EXPECT_TRUE(is_claimable(job, {}, now));
  EXPECT_TRUE(is_claimable(job, {.jobs = {7}, .batch = "b", .most = JobClass::normal, .not_failed_on = "GPU-2"}, now));
  EXPECT_FALSE(is_claimable(job, {.jobs = {8}}, now));
  EXPECT_FALSE(is_claimable(job, {.batch = "c"}, now));
  EXPECT_FALSE(is_claimable(job, {.most = JobClass::interactive}, now));
  EXPECT_FALSE(is_claimable(job, {.not_failed_on = "GPU-1"}, now));
  EXPECT_FALSE(is_claimable(job, {}, now - 1ms));
  Job waiting = job, running = job;
  waiting.waits_for = 3;
  running.state = JobState::running;
  EXPECT_FALSE(is_claimable(waiting, {}, now));
  EXPECT_FALSE(is_claimable(running, {}, now));
}

TEST(JobRules, TenMinutesOfWaitingRankAsOnePriority) {
  const JobSpec usual{}, urgent{.priority = 1};
  EXPECT_EQ(claim_rank(usual, at(0ms)).aged_from, claim_rank(urgent, at(kAgeing)).aged_from);
  EXPECT_LT(claim_rank(usual, at(0ms)).aged_from, claim_rank(usual, at(kAgeing)).aged_from);
  EXPECT_LT(claim_rank({.audio = Seconds(90)}, at(0ms)), claim_rank({.audio = Seconds(60)}, at(0ms)));
  const JobSpec sooner{.job_class = JobClass::interactive, .deadline = at(1h)};
  const JobSpec some_time{.audio = Seconds(1), .job_class = JobClass::interactive};
  EXPECT_LT(claim_rank(sooner, at(0ms)), claim_rank(some_time, at(0ms)));
}

TEST(JobRules, ADoneTwinIsCopiedAndARunningOneWaitedFor) {
  using What = ContentCheck::What;
  EXPECT_EQ(decide_content(7, "sha", "", {}).what, What::unique);
  EXPECT_EQ(decide_content(7, "sha", "other", {.done = 3, .running = 4}).what, What::copy);
  EXPECT_EQ(decide_content(7, "sha", "other", {.done = 3, .running = 4}).same_as, 3);
  EXPECT_EQ(decide_content(7, "sha", "", {.running = 4}).what, What::wait);
  EXPECT_EQ(decide_content(7, "sha", "sha", {.done = 3}).same_as, 7) << "only its date has changed";
  EXPECT_EQ(decide_content(7, "", "", {}).what, What::unique) << "of nothing known nothing is the same";
}

TEST(JobRules, AFailureCountsOnceAndNamesItsDevice) {
  Job job = known(JobState::running);
  job.strikes = 1;
  job.device = "GPU-1";
  job.progress = 0.5;
  const auto [after, wait] = after_failure(job, FailureClass::transient, "", at(0ms), 0.5, {});
  EXPECT_EQ(after.state, JobState::queued);
  EXPECT_EQ(after.strikes, 2);
  EXPECT_EQ(after.failed_on, "GPU-1");
  EXPECT_EQ(after.progress, 0);
  EXPECT_EQ(wait, 10s) << "half of the doubled first wait";
  EXPECT_EQ(after.not_before, at(wait));
  const auto on_device = after_failure(job, FailureClass::device, "GPU-2", at(0ms), 0.5, {}).job;
  EXPECT_EQ(on_device.strikes, 1) << "it is the device's fault";
  EXPECT_EQ(on_device.device_failures, 1);
  EXPECT_EQ(on_device.failed_on, "GPU-2");
  EXPECT_EQ(after_failure(job, FailureClass::permanent, "", at(0ms), 0.5, {}).job.state, JobState::dead);
}

TEST(JobRules, AJobToBeCancelledEndsAsCancelledHoweverItsAttemptEnds) {
  Job job = known(JobState::running);
  job.cancel_requested = true;
  EXPECT_EQ(after_release(job).state, JobState::cancelled);
  EXPECT_FALSE(after_release(job).cancel_requested);
  EXPECT_EQ(after_failure(job, FailureClass::transient, "", at(0ms), 0, {}).job.state, JobState::cancelled);
  EXPECT_EQ(standing_of(true, true), LeaseStanding::cancel);
  EXPECT_EQ(standing_of(false, true), LeaseStanding::lost);
  job.cancel_requested = false;
  EXPECT_EQ(after_release(job).state, JobState::queued);
  EXPECT_EQ(standing_of(true, false), LeaseStanding::held);
}

TEST(JobRules, AnOwnerThatWentIsNoFaultOfTheJob) {
  EXPECT_EQ(reaped_as(true, true), AttemptEnd::orphaned);
  EXPECT_EQ(reaped_as(true, false), AttemptEnd::orphaned);
  EXPECT_EQ(reaped_as(false, true), AttemptEnd::expired);
  EXPECT_FALSE(reaped_as(false, false));
}

}  // namespace
}  // namespace tutti
