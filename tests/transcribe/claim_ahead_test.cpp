// How many jobs a run claims at once, and what becomes of those that it does not begin.
#include "transcribe/batch/claim_ahead.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "jobs/open_store.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

TEST(ClaimsAtOnce, FollowTheRateAndLeaveOthersTheirShare) {
  EXPECT_EQ(claims_at_once(0, 100'000), 1U);
  EXPECT_EQ(claims_at_once(12, 100'000), 12U);
  EXPECT_EQ(claims_at_once(500, 100'000), 50U);
  EXPECT_EQ(claims_at_once(500, 160), 10U);
  EXPECT_EQ(claims_at_once(500, 15), 1U) << "at the end of the queue";
}

class ClaimAheadTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<JobSpec> specs;
    for (int i = 0; i < 200; ++i)
      specs.push_back({.key = "/out/" + std::to_string(i), .batch = "b", .options = "tiny"});
    const auto submitted = *store_->submit(*store_->begin_run({}), specs);
    for (const Submitted& job : submitted) jobs_.push_back(job.id);
  }
  /// A step of the run's queue, whose next job is the first of `jobs_`.
  ClaimAhead::Taken step() {
    RunQueue::NextStep next{.job = jobs_.front()};
    jobs_.erase(jobs_.begin());
    next.ahead.assign(jobs_.begin(),
                      jobs_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(100, jobs_.size())));
    next.ready = jobs_.size();
    return claims_.take(next).value();
  }
  std::int64_t running() { return store_->counts({})->running; }

  TempFolder folder_;
  std::unique_ptr<JobStore> store_ = open_store({.url = folder_.path()}).value();
  LeaseSession leases_{*store_, *store_, [](Bytes, const auto& write) { return write(); }};
  FakeClock clock_;
  ClaimAhead claims_{leases_, *store_, clock_};
  std::vector<JobId> jobs_;
};

TEST_F(ClaimAheadTest, SlowRunClaimsOneByOne) {
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(step().lease);
    EXPECT_EQ(running(), i);
    clock_.advance(1s);
  }
}

TEST_F(ClaimAheadTest, FastRunClaimsSeveralAndBeginsThemInTurn) {
  std::vector<JobId> begun;
  const auto order = jobs_;
  for (int i = 0; i < 100; ++i) {
    const auto taken = step();
    ASSERT_TRUE(taken.lease);
    begun.push_back(taken.lease->key.job);
    clock_.advance(20ms);
  }
  EXPECT_TRUE(std::equal(begun.begin(), begun.end(), order.begin()));
  EXPECT_GT(running(), 100) << "some are claimed ahead";
  EXPECT_LE(running(), 100 + 12) << "and most are left to others";
  claims_.release_all();
  EXPECT_EQ(running(), 100);
}

TEST_F(ClaimAheadTest, ClaimedJobNotBegunIsReleasedSoonAndUnmarked) {
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(step().lease);
  const auto ahead = running() - 9;
  ASSERT_GT(ahead, 0);
  clock_.advance(1s);
  claims_.release_idle();
  EXPECT_EQ(running(), 9 + ahead);
  clock_.advance(1500ms);
  claims_.release_idle();
  EXPECT_EQ(running(), 9);
  EXPECT_EQ(store_->jobs({.ids = {jobs_.front()}}, 0, 1)->front().attempts, 0);
  EXPECT_TRUE(step().lease) << "in its turn it is claimed again";
}

TEST_F(ClaimAheadTest, JobsOfOtherRunnersArePassedOverAtOnce) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(*store_->claim({.jobs = {jobs_[static_cast<std::size_t>(i)]}}));
  for (int i = 0; i < 3; ++i) {
    const auto taken = step();
    EXPECT_FALSE(taken.lease);
    ASSERT_TRUE(taken.known);
    EXPECT_EQ(taken.known->state, JobState::running);
    EXPECT_EQ(running(), 4) << "the first call has claimed the fourth";
  }
  EXPECT_TRUE(step().lease);
}

TEST_F(ClaimAheadTest, JobCancelledMeanwhileIsRevokedWhenItBegins) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(step().lease);
  ASSERT_GT(running(), 5);
  ASSERT_EQ(*store_->cancel({.ids = {jobs_.front()}}), 1U);
  leases_.renew();
  const auto taken = step();
  ASSERT_TRUE(taken.lease);
  bool cancelled = false;
  leases_.attach(taken.lease->key, {.revoked = [&](bool by_user) { cancelled = by_user; }});
  EXPECT_TRUE(cancelled);
}

}  // namespace
}  // namespace tutti
