// What LeaseSession guarantees, on every kind of store; the numbers are those at the class.

#include "jobs/lease_session.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "store_kinds.h"
#include "support/log_capture.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class LeaseSessionTest : public StoreTest {
 protected:
  /// Another process with the same store.
  struct Other {
    std::unique_ptr<JobStore> store;
    LeaseSession session;
    explicit Other(std::unique_ptr<JobStore> opened)
        : store(std::move(opened)),
          session(*store, *store, [](Bytes, const std::function<Result<void>()>& write) { return write(); }) {}
  };

  void SetUp() override {
    StoreTest::SetUp();
    session_.emplace(*store_, *store_, [this](Bytes needed, const std::function<Result<void>()>& write) {
      needed_ = needed;
      auto written = write();
      if (after_write_) std::exchange(after_write_, nullptr)();
      return written;
    });
  }

  Lease claim_and_attach(bool with_stop = false) {
    Lease lease = **session_->claim({});
    LeaseHolder holder{.progress = [] { return 0.5; },
                       .revoked = [this](bool cancelled) { revoked_.push_back(cancelled); }};
    if (with_stop) holder.stop = [this] { ++stops_; };
    session_->attach(lease.key, holder);
    return lease;
  }
  /// A claim that has ended gets no answer about its content.
  bool holds(const LeaseKey& key) {
    return session_->content_known(key, "of " + key.token)->what != ContentCheck::What::lost;
  }
  fs::path out() const { return folder_.path() / "out" / "a.txt"; }
  fs::path staging() const { return folder_.path() / "out" / ".tmp"; }
  Result<Published> publish(LeaseSession& session, const Lease& lease, const std::string& text) {
    const std::vector<OutputContent> outputs{{out(), text}};
    return session.publish(lease, outputs, {}, {.staging = staging()});
  }
  /// The process of `session_` is stopped for longer than a lease lasts, and another one does the job meanwhile.
  Lease claim_by_another(Other& other) {
    clock_.advance(kLeaseLength + 1ms);
    other.session.look_after();
    clock_.advance(10min);
    return **other.session.claim({});
  }

  std::optional<LeaseSession> session_;
  std::vector<bool> revoked_;
  int stops_ = 0;
  Bytes needed_{};
  std::function<void()> after_write_{};
  LogCapture log_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, LeaseSessionTest, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// ---- 1, 3: a token a claim in every write; a paused holder publishes nothing

TEST_P(LeaseSessionTest, EveryWriteOfAHolderPausedBeyondItsLeaseChangesNothing) {
  const JobId id = add("a");
  const Lease lost = claim_and_attach();
  Other other(open());
  const Lease held = claim_by_another(other);
  EXPECT_NE(lost.key.token, held.key.token);
  const auto before = job(id);
  EXPECT_EQ(session_->content_known(lost.key, "sha")->what, ContentCheck::What::lost);
  EXPECT_TRUE(session_->set_length(lost.key, Seconds(61)));
  EXPECT_FALSE(session_->fail(lost.key, {.reason = "late"})->held);
  const auto after = job(id);
  EXPECT_EQ(after.sha256, before.sha256);
  EXPECT_EQ(after.spec.audio, before.spec.audio);
  EXPECT_EQ(after.strikes, before.strikes);
  EXPECT_EQ(after.state, JobState::running);
  EXPECT_TRUE(publish(other.session, held, "the other's")->held);
}

TEST_P(LeaseSessionTest, AReleaseOrCancellationOfAPausedHolderChangesNothing) {
  const JobId first = add("a"), second = add("b");
  const Lease one = claim_and_attach(), two = claim_and_attach();
  Other other(open());
  claim_by_another(other);
  ASSERT_TRUE(*other.session.claim({}));
  EXPECT_FALSE(*session_->release(one.key, "late"));
  EXPECT_FALSE(*session_->cancelled(two.key));
  EXPECT_EQ(state(first), JobState::running);
  EXPECT_EQ(state(second), JobState::running);
}

TEST_P(LeaseSessionTest, AHolderPausedBeforePublishingPublishesNothing) {
  const JobId id = add("a");
  const Lease lost = claim_and_attach();
  Other other(open());
  const Lease held = claim_by_another(other);
  EXPECT_FALSE(publish(*session_, lost, "late")->held);
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_TRUE(publish(other.session, held, "in time")->held);
  EXPECT_EQ(*read_file(out()), "in time");
  EXPECT_TRUE(fs::is_empty(staging())) << "what the loser staged is gone";
  EXPECT_EQ(state(id), JobState::done);
}

/// Is paused between the record of its result and the rename, for so long that the job is requested in another way
/// and done by another process.
class PausedRecords final : public OutputRecords {
 public:
  PausedRecords(OutputRecords& records, std::function<void()> pause) : records_(records), pause_(std::move(pause)) {}
  Result<std::vector<JobOutput>> outputs(JobId job) override {
    if (pause_) std::exchange(pause_, nullptr)();
    return records_.outputs(job);
  }
  Result<std::vector<Unpublished>> unpublished() override { return records_.unpublished(); }
  Result<void> mark_published(JobId job, const std::string& staged) override {
    return records_.mark_published(job, staged);
  }
  Result<std::vector<KnownContent>> written(JobId job) override { return records_.written(job); }
  Result<void> record_written(JobId job, const KnownContent& content) override {
    return records_.record_written(job, content);
  }
  Result<void> move_output(JobId job, const JobOutput& output) override { return records_.move_output(job, output); }
  Result<StagedBy> staged_by(const LeaseKey& key) override { return records_.staged_by(key); }

 private:
  OutputRecords& records_;
  std::function<void()> pause_;
};

TEST_P(LeaseSessionTest, AHolderPausedAfterItsRecordReplacesNoNewerResult) {
  const JobId id = add("a");
  Other other(open());
  PausedRecords records(*store_, [&] {
    JobSpec otherwise = spec("a");
    otherwise.options = "large";
    other.store->submit(run(), {&otherwise, 1});
    EXPECT_TRUE(publish(other.session, **other.session.claim({}), "newer")->held);
  });
  LeaseSession paused(*store_, records, [](Bytes, const std::function<Result<void>()>& write) { return write(); });
  const Lease lease = **paused.claim({});
  EXPECT_FALSE(publish(paused, lease, "older")->held);
  EXPECT_EQ(*read_file(out()), "newer");
  EXPECT_TRUE(fs::is_empty(staging()));
  EXPECT_EQ(state(id), JobState::done);
}

// ---- 2: a claim ends once

TEST_P(LeaseSessionTest, TheFirstEndOfAClaimDecides) {
  const JobId id = add("a");
  const Lease lease = claim_and_attach();
  EXPECT_TRUE(holds(lease.key));
  EXPECT_TRUE(*session_->release(lease.key, "drain"));
  EXPECT_FALSE(holds(lease.key));
  EXPECT_FALSE(session_->fail(lease.key, {})->held);
  EXPECT_FALSE(publish(*session_, lease, "late")->held);
  EXPECT_FALSE(*session_->cancelled(lease.key));
  EXPECT_EQ(state(id), JobState::queued);
  EXPECT_EQ(job(id).strikes, 0);
}

TEST_P(LeaseSessionTest, ALostClaimEndsAtTheNextRenewalAndItsHolderLearnsOfIt) {
  add("a");
  const Lease lost = claim_and_attach();
  Other other(open());
  claim_by_another(other);
  session_->renew();
  EXPECT_EQ(revoked_, std::vector{false});
  EXPECT_FALSE(holds(lost.key));
  session_->renew();
  EXPECT_EQ(revoked_.size(), 1U) << "once";
}

TEST_P(LeaseSessionTest, AfterAnErrorOfPublishingTheJobIsStillHeld) {
  const JobId id = add("a");
  const Lease lease = claim_and_attach();
  ASSERT_TRUE(write_file_atomically(folder_.path() / "out", "a file where the folder is to be"));
  EXPECT_FALSE(publish(*session_, lease, "text"));
  EXPECT_EQ(needed_.value, 4) << "of the disk";
  EXPECT_TRUE(holds(lease.key));
  EXPECT_TRUE(session_->fail(lease.key, {.kind = FailureClass::transient, .reason = "no folder"})->held);
  EXPECT_EQ(state(id), JobState::queued);
}

TEST_P(LeaseSessionTest, WhatIsLeftIsReleasedTogether) {
  const JobId first = add("a"), second = add("b");
  claim_and_attach();
  claim_and_attach();
  session_->release_all("the run ended");
  EXPECT_EQ(state(first), JobState::queued);
  EXPECT_EQ(state(second), JobState::queued);
  EXPECT_EQ(last_attempt(first).error, "the run ended");
}

// ---- 4: renewed before any is taken back

TEST_P(LeaseSessionTest, HeldLeasesOutlastAnyTimeOfWorkAndASuspend) {
  const JobId id = add("a");
  claim_and_attach();
  for (int i = 0; i < 10; ++i) {
    clock_.advance(kLookAfterLeasesEvery);
    session_->look_after();
  }
  EXPECT_EQ(job(id).progress, 0.5);
  clock_.advance(8h);
  session_->look_after();
  EXPECT_EQ(state(id), JobState::running);
  EXPECT_EQ(job(id).attempts, 1);
}

// ---- 5: a cancellation is found

TEST_P(LeaseSessionTest, ACancelledJobEndsAtTheNextRenewal) {
  const JobId id = add("a");
  const Lease lease = claim_and_attach();
  store_->cancel({.ids = {id}});
  session_->renew();
  EXPECT_EQ(revoked_, std::vector{true});
  EXPECT_EQ(state(id), JobState::cancelled);
  EXPECT_FALSE(holds(lease.key));
}

TEST_P(LeaseSessionTest, AHolderThatStopsFirstEndsACancelledJobItself) {
  const JobId id = add("a");
  const Lease lease = claim_and_attach(/*with_stop=*/true);
  store_->cancel({.ids = {id}});
  session_->renew();
  EXPECT_EQ(stops_, 1);
  EXPECT_EQ(state(id), JobState::running) << "its request is still in work";
  EXPECT_TRUE(*session_->cancelled(lease.key));
  EXPECT_EQ(state(id), JobState::cancelled);
  EXPECT_TRUE(revoked_.empty());
}

TEST_P(LeaseSessionTest, ACancellationDuringTheClaimItselfIsFound) {
  const JobId id = add("a");
  after_write_ = [&] {  // the store has granted the claim, and the session does not know it yet
    store_->cancel({.ids = {id}});
    session_->renew();
  };
  claim_and_attach();
  EXPECT_EQ(revoked_, std::vector{true});
  EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(LeaseSessionTest, PublishingFindsACancellationByItself) {
  const JobId id = add("a");
  const Lease lease = claim_and_attach();
  store_->cancel({.ids = {id}});
  EXPECT_FALSE(publish(*session_, lease, "too late")->held);
  EXPECT_EQ(state(id), JobState::cancelled);
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_FALSE(holds(lease.key));
}

TEST_P(LeaseSessionTest, AClaimThatWaitsForATwinHasEnded) {
  const JobId first = add("a"), second = add("b");
  const Lease one = claim_and_attach(), two = claim_and_attach();
  ASSERT_EQ(session_->content_known(one.key, "same")->what, ContentCheck::What::unique);
  EXPECT_EQ(session_->content_known(two.key, "same")->what, ContentCheck::What::wait);
  EXPECT_TRUE(holds(one.key));
  EXPECT_FALSE(holds(two.key));
  EXPECT_EQ(state(first), JobState::running);
  EXPECT_EQ(state(second), JobState::queued);
}

}  // namespace
}  // namespace tutti
