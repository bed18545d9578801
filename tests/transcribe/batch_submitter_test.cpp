// How a batch's list comes into the store.

#include "transcribe/batch/batch_submitter.h"

#include <gtest/gtest.h>

#include "transcribe/batch_job_source_case.h"

using namespace tutti;

namespace {

class BatchSubmitterTest : public BatchJobSourceTest {
 protected:
  void list(int jobs) {
    for (int i = 0; i < jobs; ++i)
      listed_.push_back({.spec = {.key = "/out/talk" + std::to_string(i),
                                  .batch = "b",
                                  .input = folder_ / ("talk" + std::to_string(i) + ".wav"),
                                  .options = "tiny",
                                  .audio = Seconds(10)}});
  }

  std::vector<BatchJob> listed_;
};

/// To look at a recording takes a second and a half, by the store's clock, too.
class SlowDisk final : public Clock {
 public:
  explicit SlowDisk(FakeStoreClock& store) : store_(store) {}
  Instant now() const override {
    constexpr std::chrono::milliseconds kLook{1500};
    store_.advance(kLook);
    return now_ += kLook;
  }

 private:
  FakeStoreClock& store_;
  mutable Instant now_{};
};

}  // namespace

TEST_F(BatchSubmitterTest, WorkBeginsBeforeALongLookAtAllRecordingsIsOver) {
  list(9);
  BatchSubmitter submitter(listed_, options_, {*store_, *store_, run_}, *files_, {}, [] { return false; });
  ASSERT_TRUE(submitter.submit(SlowDisk(clock_)));
  const auto jobs = store_->jobs({.run = run_}, 0, 100).value();
  ASSERT_EQ(jobs.size(), 9U);
  EXPECT_LT(jobs.front().submitted, jobs.back().submitted) << "in portions";
  EXPECT_EQ(files_->snapshot().counts.total, 9U);
}

TEST_F(BatchSubmitterTest, TotalCountsAllInputsBeforeTheyAreExamined) {
  list(9);
  std::vector<std::size_t> totals;
  std::vector<bool> all_known;
  BatchSubmitter submitter(listed_, options_, {*store_, *store_, run_}, *files_, {}, [&] {
    totals.push_back(files_->snapshot().counts.total);
    all_known.push_back(files_->snapshot().progress.all_known);
    return false;
  });
  ASSERT_TRUE(submitter.submit(SlowDisk(clock_)));
  ASSERT_GT(totals.size(), 1U);
  for (const std::size_t total : totals) EXPECT_EQ(total, 9U) << "and not those of the first portion";
  EXPECT_FALSE(all_known.back()) << "so that no end time is forecast";
  EXPECT_TRUE(files_->snapshot().progress.all_known);
  EXPECT_EQ(files_->snapshot().counts.total, 9U);
}

TEST_F(BatchSubmitterTest, InputsNotExaminedBeforeAStopAreTheNextRuns) {
  list(9);
  int looks = 0;
  BatchSubmitter submitter(listed_, options_, {*store_, *store_, run_}, *files_, {}, [&] { return ++looks > 3; });
  ASSERT_TRUE(submitter.submit());
  EXPECT_EQ(files_->snapshot().counts.total, 0U);
  EXPECT_TRUE(store_->jobs({.run = run_}, 0, 100)->empty());
  BatchSubmitter next(listed_, options_, {*store_, *store_, run_}, *files_, {}, [] { return false; });
  ASSERT_TRUE(next.submit());
  EXPECT_EQ(files_->snapshot().counts.total, 9U);
}

TEST_F(BatchSubmitterTest, JobFailedInAnEarlierRunIsSkippedNamingRetryFlag) {
  list(3);
  listed_[1].spec.name = "The second";
  BatchSubmitter first(listed_, options_, {*store_, *store_, run_}, *files_, {}, [] { return false; });
  ASSERT_TRUE(first.submit());
  EXPECT_EQ(log_.count("retry_failed"), 0);
  ASSERT_TRUE(store_->cancel({.ids = {store_->jobs({}, 0, 9)->at(1).id}}));
  begin();
  BatchSubmitter second(listed_, options_, {*store_, *store_, run_}, *files_, {}, [] { return false; });
  ASSERT_TRUE(second.submit());
  EXPECT_EQ(log_.count("in an earlier run: 1 (the first: The second). They are left alone; retry_failed"), 1);
  EXPECT_EQ(files_->snapshot().before.cancelled, 1U);
  EXPECT_EQ(files_->snapshot().before.ended(), 1U);
  options_.retry_failed = true;
  begin();
  BatchSubmitter third(listed_, options_, {*store_, *store_, run_}, *files_, {}, [] { return false; });
  ASSERT_TRUE(third.submit());
  EXPECT_EQ(files_->snapshot().before.ended(), 0U);
  EXPECT_EQ(log_.count("retry_failed"), 1);
}

TEST_F(BatchSubmitterTest, OverwritingAnotherTranscriptWarnsUnlessInputMoved) {
  list(2);
  const auto submitted = [&] {
    begin();
    BatchSubmitter submitter(listed_, options_, {*store_, *store_, run_}, *files_, {}, [] { return false; });
    return submitter.submit();
  };
  ASSERT_TRUE(submitted());
  while (const auto lease = *store_->claim({})) ASSERT_TRUE(*store_->complete(lease->key, {}, {}));
  ASSERT_TRUE(write_file_atomically(folder_ / "talk0.wav", "the first one is still there"));
  for (const int i : {0, 1}) listed_[static_cast<std::size_t>(i)].spec.input = folder_ / ("other" + std::to_string(i));
  ASSERT_TRUE(submitted());
  EXPECT_EQ(log_.count("wrote for another one: 1 (the first: /out/talk0.*, of " + (folder_ / "talk0.wav").string()), 1);
  ASSERT_TRUE(submitted());
  EXPECT_EQ(log_.count("wrote for another one"), 1) << "not again";
}
