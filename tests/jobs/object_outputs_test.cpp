#include "jobs/object_outputs.h"

#include <gmock/gmock.h>

#include <memory>

#include "base/files.h"
#include "fake_objects.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"
#include "store_kinds.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Pair;
using testing::UnorderedElementsAre;

const std::string kText = "s3://talks/out/a.txt", kJson = "s3://talks/out/a.json", kStaging = "s3://talks/out/.tmp";

class InBuckets : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store_->reach_objects(objects_);
  }
  static std::vector<OutputContent> contents(const std::string& text) {
    return {{kText, text}, {kJson, "{" + text + "}"}};
  }
  Result<Published> publish(const Lease& lease, const std::string& text, const PublishFolders& folders) {
    return publish_outputs(*store_, *store_, lease, contents(text), {}, folders);
  }
  Result<Published> publish(const Lease& lease, const std::string& text, Existing existing = Existing::keep) {
    return publish(lease, text, {.staging = kStaging, .existing = existing});
  }
  SweepReport sweep() {
    const fs::path folders[] = {kStaging};
    return *sweep_outputs(*store_, folders);
  }
  std::size_t published_by_sweep() {
    const auto [published, requeued, collected, kept, stuck] = sweep();
    return published;
  }
  std::size_t redo(JobId id, JobAdmin::Redo which = JobAdmin::Redo::missing) {
    return *store_->redo({.ids = {id}}, which);
  }

  const std::shared_ptr<FakeObjects> objects_ = std::make_shared<FakeObjects>();
};
INSTANTIATE_TEST_SUITE_P(Kinds, InBuckets, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(InBuckets, OutputsArePublishedOnceAndNothingElseStays) {
  const JobId id = add("a");
  const auto published = publish(*claim(), "hello");
  EXPECT_TRUE(published->held);
  EXPECT_FALSE(published->left_staged);
  EXPECT_THAT(objects_->contents(), UnorderedElementsAre(Pair(kText, "hello"), Pair(kJson, "{hello}")));
  EXPECT_EQ(state(id), JobState::done);
  EXPECT_TRUE(store_->unpublished()->empty());
  EXPECT_EQ(redo(id), 0U);
}

TEST_P(InBuckets, AUsersObjectIsKeptUnlessItIsToBeReplaced) {
  const JobId kept = add("a");
  objects_->put(kText, "mine");
  EXPECT_THAT(publish(*claim(), "hello")->kept, testing::ElementsAre(KeptFile{kText, "s3://talks/out/a.new.txt"}));
  EXPECT_EQ(objects_->contents().at(kText), "mine");
  EXPECT_EQ(objects_->contents().at("s3://talks/out/a.new.txt"), "hello");
  EXPECT_EQ(redo(kept), 0U);
  EXPECT_EQ(redo(kept, JobAdmin::Redo::missing_or_kept), 1U);
  EXPECT_TRUE(publish(*claim(), "again", Existing::replace)->held);
  EXPECT_EQ(objects_->contents().at(kText), "again");
}

TEST_P(InBuckets, AnObjectOfTheJobsOwnIsReplaced) {
  const JobId id = add("a");
  EXPECT_TRUE(publish(*claim(), "first")->held);
  ASSERT_EQ(redo(id, JobAdmin::Redo::all), 1U);
  EXPECT_TRUE(publish(*claim(), "second")->held);
  EXPECT_THAT(objects_->contents(), UnorderedElementsAre(Pair(kText, "second"), Pair(kJson, "{second}")));
}

TEST_P(InBuckets, AHolderThatLostItsLeasePublishesNothing) {
  add("a");
  const Lease zombie = *claim();
  clock_.advance(kLeaseLength + 1ms);
  store_->reap();
  EXPECT_FALSE(publish(zombie, "late")->held);
  EXPECT_TRUE(objects_->contents().empty());
}

TEST_P(InBuckets, ASweepPublishesWhatAKilledRunnerHasRecorded) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const auto staged = *stage_outputs(lease, kStaging, contents("hello"), objects_.get());
  ASSERT_TRUE(*store_->complete(lease.key, staged, {}));
  objects_->put(kText, "hello");  // killed between that and the removal of what was staged
  EXPECT_EQ(published_by_sweep(), 1U);
  EXPECT_THAT(objects_->contents(), UnorderedElementsAre(Pair(kText, "hello"), Pair(kJson, "{hello}")));
  EXPECT_EQ(published_by_sweep(), 0U);
  EXPECT_EQ(redo(id), 0U);
}

TEST_P(InBuckets, ASweepRemovesWhatLosersStaged) {
  add("a");
  const Lease lost = *claim();
  ASSERT_TRUE(stage_outputs(lost, kStaging, contents("late"), objects_.get()));
  clock_.advance(kLeaseLength + 1ms);
  objects_->put(kStaging + "/7.1.0123456789abcdef0123456789abcdef.0", "another store's");
  objects_->put(kStaging + "/8.1.0123456789abcdef0123456789abcdef.0", "of long ago", 25h);
  objects_->put(kStaging + "/notes.txt", "mine", 25h);
  EXPECT_EQ(sweep().collected, 3U);
  EXPECT_EQ(objects_->contents().size(), 2U);
}

TEST_P(InBuckets, OutputsThatAreGoneOrChangedAreDoneAgain) {
  const JobId id = add("a");
  EXPECT_TRUE(publish(*claim(), "hello")->held);
  objects_->put(kText, "hullo");  // of the same size
  EXPECT_EQ(redo(id), 1U);
  EXPECT_TRUE(publish(*claim(), "hello")->held);
  EXPECT_EQ(objects_->contents().at("s3://talks/out/a.new.txt"), "hello");
  ASSERT_TRUE(objects_->remove(kJson));
  EXPECT_EQ(redo(id), 1U);
}

TEST_P(InBuckets, AServiceThatIsAwayIsWaitedForWithTheResult) {
  const JobId id = add("a");
  objects_->waits_for_service = true;
  objects_->failing_writes = 3;
  EXPECT_TRUE(publish(*claim(), "hello")->held);
  EXPECT_EQ(objects_->waits, 3);
  EXPECT_THAT(objects_->contents(), UnorderedElementsAre(Pair(kText, "hello"), Pair(kJson, "{hello}")));
  EXPECT_EQ(state(id), JobState::done);
}

TEST_P(InBuckets, WhatCannotBePutThereIsKeptOnThisMachineForALaterRun) {
  add("a");
  objects_->failing_writes = 2;  // the staged one, then the one in place
  const fs::path spare = folder_.path() / "kept";
  const auto published = publish(*claim(), "hello", {.staging = kStaging, .spare = spare});
  ASSERT_TRUE(published->left_staged);
  EXPECT_TRUE(objects_->contents().empty());
  EXPECT_EQ(published_by_sweep(), 1U);
  EXPECT_THAT(objects_->contents(), UnorderedElementsAre(Pair(kText, "hello"), Pair(kJson, "{hello}")));
  EXPECT_TRUE(fs::is_empty(spare));
}

TEST_P(InBuckets, ATwinsOutputsAreCopied) {
  const JobId id = add("a");
  EXPECT_TRUE(publish(*claim(), "hello")->held);
  const fs::path names[] = {"s3://talks/out/b.txt", "s3://talks/out/b.json"};
  const auto copies = copy_of(*store_->outputs(id), names, objects_.get());
  ASSERT_TRUE(copies) << copies.error().text();
  EXPECT_EQ(copies->front().content, "hello");
  ASSERT_TRUE(objects_->remove(kJson));
  EXPECT_EQ(copy_of(*store_->outputs(id), names, objects_.get()).error().fault, Fault::missing);
}

TEST_P(InBuckets, AProgramWithoutAWayToBucketsIsRefused) {
  add("a");
  store_->reach_objects(nullptr);
  EXPECT_THAT(publish(*claim(), "hello").error().what, testing::HasSubstr("no way to buckets"));
}

}  // namespace
}  // namespace tutti
