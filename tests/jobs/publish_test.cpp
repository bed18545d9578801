#include "jobs/publish.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/sha256.h"
#include "jobs/sweep.h"
#include "store_kinds.h"
#include "support/closed_folder.h"
#include "support/full_disk.h"
#include "support/small_files.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Publishing : public StoreTest {
 protected:
  fs::path out(const std::string& name) const { return folder_.path() / "out" / name; }
  fs::path staging() const { return folder_.path() / "out" / ".tmp"; }
  std::vector<OutputContent> contents(const std::string& text) const {
    return {{out("talks/a.txt"), text}, {out("talks/a.json"), "{\"text\":\"" + text + "\"}"}};
  }
  PublishFolders folders(const fs::path& spare = {}) const { return {.staging = staging(), .spare = spare}; }
  SweepReport sweep() {
    const fs::path folders[] = {staging()};
    return *sweep_outputs(*store_, folders);
  }
  /// The error of the store at the end of a job while its files may have no more than 1 KiB.
  template <class Limit>
  Error refusal_within(const Lease& lease) {
    const Limit limit(1024);
    const auto completed = store_->complete(lease.key, {}, {});
    EXPECT_FALSE(completed);
    return completed ? Error{} : completed.error();
  }
  std::size_t staged_files() const {
    std::error_code why;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(staging(), why), fs::directory_iterator()));
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Publishing, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });
class PublishingInFolder : public Publishing {};
INSTANTIATE_TEST_SUITE_P(Kinds, PublishingInFolder, testing::ValuesIn(store_kinds_in_folders()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Publishing, OutputsArePublishedAndRecordedWithoutLeftovers) {
  const JobId id = add("a");
  ASSERT_TRUE(publish_outputs(*store_, *store_, *claim(), contents("hello"), {}, folders())->held);
  EXPECT_EQ(*read_file(out("talks/a.txt")), "hello");
  EXPECT_EQ(state(id), JobState::done);
  EXPECT_TRUE(store_->unpublished()->empty());
  EXPECT_TRUE(outputs_are_there(*store_->outputs(id)));
  EXPECT_EQ(staged_files(), 0U);
  leave_staging(staging());
  EXPECT_FALSE(fs::exists(staging()));
}

TEST_P(Publishing, ConcurrentPublishingIsWholeAndRecordedOnce) {
  for (int i = 0; i < 24; ++i) add("talk" + std::to_string(i));
  std::vector<Lease> leases;
  while (auto lease = claim()) leases.push_back(*std::move(lease));
  ASSERT_EQ(leases.size(), 24U);
  const auto path_of = [&](const Lease& lease) { return out("talks/" + std::to_string(lease.key.job) + ".txt"); };
  std::atomic<std::size_t> next = 0, published = 0;
  {
    std::vector<std::jthread> writers(4);
    for (auto& writer : writers)
      writer = std::jthread([&] {
        for (std::size_t i = next++; i < leases.size(); i = next++) {
          const std::vector<OutputContent> outputs{{path_of(leases[i]), leases[i].key.token}};
          const auto done = publish_outputs(*store_, *store_, leases[i], outputs, {}, folders());
          if (done && done->held && !done->left_staged) ++published;
        }
      });
  }
  EXPECT_EQ(published, leases.size());
  for (const Lease& lease : leases) {
    EXPECT_EQ(*read_file(path_of(lease)), lease.key.token);
    EXPECT_EQ(state(lease.key.job), JobState::done);
  }
  EXPECT_TRUE(store_->unpublished()->empty());
  EXPECT_EQ(staged_files(), 0U);
}

TEST_P(Publishing, AHolderThatLostItsLeasePublishesNothingAndCleansUp) {
  add("a");
  const Lease zombie = *claim();
  clock_.advance(kLeaseLength + 1ms);
  store_->reap();
  EXPECT_FALSE(publish_outputs(*store_, *store_, zombie, contents("late"), {}, folders())->held);
  EXPECT_FALSE(fs::exists(out("talks/a.txt")));
  EXPECT_EQ(staged_files(), 0U);
}

TEST_P(Publishing, SweepPublishesWhatWasRecordedBeforeAKill) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const auto staged = *stage_outputs(lease, staging(), contents("hello"));
  ASSERT_TRUE(*store_->complete(lease.key, staged, {}));
  ASSERT_TRUE(put_in_place(*store_, id, staged[0]));  // killed between the two renames
  EXPECT_EQ(sweep().put_in_place, 1U);
  EXPECT_EQ(*read_file(out("talks/a.txt")), "hello");
  EXPECT_TRUE(fs::exists(out("talks/a.json")));
  EXPECT_EQ(state(id), JobState::done);
  EXPECT_EQ(sweep().put_in_place, 0U);
}

TEST_P(Publishing, SweepAdoptsPublishedOutputByHashAndRedoesDamagedOne) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const auto staged = *stage_outputs(lease, staging(), contents("hello"));
  ASSERT_TRUE(*store_->complete(lease.key, staged, {}));
  for (const auto& output : staged) ASSERT_TRUE(put_in_place(*store_, id, output));
  std::ofstream(out("talks/a.txt")) << "hellO";
  EXPECT_EQ(sweep().requeued, 1U);
  EXPECT_EQ(state(id), JobState::queued);
}

TEST_P(Publishing, SweepRemovesLostStagingAndKeepsActiveAndForeignFiles) {
  add("a");
  const Lease loser = *claim();
  ASSERT_TRUE(stage_outputs(loser, staging(), contents("old")));
  store_->release(loser.key, "stopped");
  const Lease winner = *claim();
  ASSERT_TRUE(stage_outputs(winner, staging(), contents("new")));
  const std::string other = "7.1." + std::string(32, 'a') + ".0";
  std::ofstream(staging() / other) << "another store's";
  std::ofstream(staging() / "notes.txt") << "the user's";
  EXPECT_EQ(sweep().collected, 2U);
  EXPECT_EQ(staged_files(), 4U);
  fs::last_write_time(staging() / other, fs::file_time_type::clock::now() - 25h);
  EXPECT_EQ(sweep().collected, 1U);
  EXPECT_FALSE(fs::exists(staging() / other));
}

TEST_P(Publishing, TwoSweepsAtOnceAgree) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const auto staged = *stage_outputs(lease, staging(), contents("hello"));
  ASSERT_TRUE(*store_->complete(lease.key, staged, {}));
  EXPECT_EQ(sweep().put_in_place, 1U);
  for (const auto& output : staged) EXPECT_TRUE(put_in_place(*store_, id, output));  // the publisher itself comes late
}

TEST_P(Publishing, TwinCopiesIntactOutputsOnly) {
  const JobId id = add("a");
  ASSERT_TRUE(publish_outputs(*store_, *store_, *claim(), contents("hello"), {}, folders())->held);
  const fs::path names[] = {out("b.txt"), out("b.json")};
  const auto same = *store_->outputs(id);
  const auto copy = copy_of(same, names);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->at(0).content, "hello");
  EXPECT_EQ(copy->at(0).path, names[0]);
  std::ofstream(out("talks/a.txt")) << "edited";
  EXPECT_EQ(copy_of(same, names).error().fault, Fault::missing);
}

TEST_P(Publishing, DoneJobsAreDoneAgainOnlyWhereTheirOutputsAreGone) {
  const JobId id = add("a");
  ASSERT_TRUE(publish_outputs(*store_, *store_, *claim(), contents("hello"), {}, folders())->held);
  EXPECT_EQ(*store_->redo({}), 0U);
  fs::remove(out("talks/a.json"));
  EXPECT_EQ(*store_->redo({.batch = "another"}), 0U);
  EXPECT_EQ(*store_->redo({.batch = "b"}), 1U);
  EXPECT_EQ(state(id), JobState::queued);
}

TEST_P(Publishing, OutputsAboutToBePublishedAreNotMissing) {
  add("a");
  const Lease lease = *claim();
  const auto staged = *stage_outputs(lease, staging(), contents("hello"));
  ASSERT_TRUE(*store_->complete(lease.key, staged, {}));
  EXPECT_EQ(*store_->redo({}), 0U);
}

TEST_P(Publishing, AFullDiskIsAnErrorAndTheJobIsStillHeld) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const std::vector<OutputContent> large{{out("a.txt"), std::string(1 << 20, 'x')}};
  {
    const FullDisk full(1 << 16);
    const auto published = publish_outputs(*store_, *store_, lease, large, {}, folders());
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().fault, Fault::full);
    EXPECT_EQ(staged_files(), 0U);
  }
  EXPECT_FALSE(fs::exists(out("a.txt")));
  EXPECT_EQ(state(id), JobState::running);
  EXPECT_TRUE(publish_outputs(*store_, *store_, lease, large, {}, folders())->held);
}

TEST_P(Publishing, OutputAboveFileSizeLimitIsRefusedWithoutSpareFolder) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const fs::path spare = folder_.path() / "spare";
  const std::vector<OutputContent> large{{out("a.txt"), std::string(1 << 20, 'x')}};
  const SmallFiles limit(1 << 16);
  const auto published = publish_outputs(*store_, *store_, lease, large, {}, folders(spare));
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().fault, Fault::refused);
  EXPECT_NE(published.error().text().find("ulimit -f"), std::string::npos) << published.error().text();
  EXPECT_FALSE(fs::exists(spare));
  EXPECT_EQ(staged_files(), 0U);
  EXPECT_EQ(state(id), JobState::running);
}

TEST_P(Publishing, UnwritableOutputWaitsInTheSpareFolder) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const fs::path spare = folder_.path() / "spare";
  fs::create_directories(out(""));
  {
    const ClosedFolder closed(out(""));
    const auto refused = publish_outputs(*store_, *store_, lease, contents("hello"), {}, folders());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::refused);
    EXPECT_EQ(state(id), JobState::running);
    const auto published = publish_outputs(*store_, *store_, lease, contents("hello"), {}, folders(spare));
    ASSERT_TRUE(published && published->left_staged);
    EXPECT_EQ(published->left_staged->fault, Fault::refused);
    EXPECT_EQ(state(id), JobState::done);
  }
  EXPECT_TRUE(put_outputs_in_place(*store_, id, Existing::keep));
  EXPECT_EQ(read_file(out("talks/a.txt")).value(), "hello");
  EXPECT_TRUE(fs::is_empty(spare));
}

TEST_P(Publishing, OutputWithoutItsFolderIsStagedInTheSpareFolder) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const fs::path spare = folder_.path() / "spare";
  std::ofstream(folder_.path() / "out") << "a file where the folder was";
  const auto published = publish_outputs(*store_, *store_, lease, contents("hello"), {}, folders(spare));
  ASSERT_TRUE(published && published->left_staged);
  EXPECT_EQ(state(id), JobState::done);
  EXPECT_EQ(sweep().stuck.size(), 1U) << "it is not to be done again";
  EXPECT_EQ(state(id), JobState::done);
  fs::remove(folder_.path() / "out");
  EXPECT_TRUE(put_outputs_in_place(*store_, id, Existing::keep));
  EXPECT_EQ(read_file(out("talks/a.txt")).value(), "hello");
}

TEST_P(Publishing, BlockedOutputStaysStagedAndHoldsOnlyItsOwnJob) {
  add("a");
  const JobId other = add("b");
  fs::create_directories(out("talks/a.txt"));  // a folder where the file should be
  const auto published = publish_outputs(*store_, *store_, *claim(), contents("hello"), {}, folders());
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->held);
  ASSERT_TRUE(published->left_staged);
  EXPECT_NE(published->left_staged->text().find("whole in"), std::string::npos) << published->left_staged->text();
  const SweepReport swept = sweep();
  ASSERT_EQ(swept.stuck.size(), 1U);
  EXPECT_EQ(swept.put_in_place, 0U);
  EXPECT_EQ(state(other), JobState::queued);
  EXPECT_EQ(staged_files(), 2U);
  fs::remove(out("talks/a.txt"));
  EXPECT_EQ(sweep().put_in_place, 1U);
  EXPECT_EQ(read_file(out("talks/a.txt")).value(), "hello");
}

TEST_P(Publishing, SpareStagingOutlivesTheOutputFolder) {
  add("a");
  const Lease lease = *claim();
  const fs::path kept = folder_.path() / "kept";
  fs::create_directories(kept);
  const fs::path staged = kept / (std::to_string(lease.key.job) + ".1." + lease.key.token + ".0");
  std::ofstream(staged) << "hello";
  Sha256 sum;
  sum.update(std::as_bytes(std::span(std::string_view("hello"))));
  const JobOutput output{out("gone/a.txt"), staged, sum.hex(), 5};
  ASSERT_TRUE(*store_->complete(lease.key, {&output, 1}, {}));
  const fs::path folders[] = {staging(), kept};
  EXPECT_EQ(sweep_outputs(*store_, folders)->put_in_place, 1U);
  EXPECT_EQ(read_file(out("gone/a.txt")).value(), "hello");
  EXPECT_TRUE(fs::is_empty(kept));
}

TEST_P(Publishing, OutputStagedOnAnotherDiskIsCopiedWholeAndOnce) {
  const fs::path elsewhere = "/dev/shm";
  struct stat here {
  }, there{};
  if (::stat(elsewhere.c_str(), &there) != 0 || ::stat(folder_.path().c_str(), &here) != 0 ||
      here.st_dev == there.st_dev)
    GTEST_SKIP() << "needs a second file system";
  const JobId id = add("a");
  const Lease lease = *claim();
  const fs::path staged = elsewhere / ("tutti-test." + lease.key.token);
  std::ofstream(staged) << "hello";
  Sha256 sum;
  sum.update(std::as_bytes(std::span(std::string_view("hello"))));
  const JobOutput output{out("talks/a.txt"), staged, sum.hex(), 5};
  ASSERT_TRUE(*store_->complete(lease.key, {&output, 1}, {}));
  EXPECT_TRUE(put_outputs_in_place(*store_, id, Existing::keep));
  EXPECT_EQ(read_file(out("talks/a.txt")).value(), "hello");
  EXPECT_FALSE(fs::exists(staged));
  EXPECT_TRUE(store_->unpublished()->empty());
  EXPECT_TRUE(put_in_place(*store_, id, output)) << "another process comes late";
  std::ofstream(out("talks/a.txt")) << "hellO";
  EXPECT_EQ(put_in_place(*store_, id, output).error().fault, Fault::missing);
}

TEST_P(PublishingInFolder, StoreOnFullDiskChangesNothingAndRecovers) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const Error refused = refusal_within<FullDisk>(lease);
  EXPECT_EQ(refused.fault, Fault::full) << refused.text();
  EXPECT_EQ(state(id), JobState::running);
  EXPECT_TRUE(*store_->complete(lease.key, {}, {}));
  EXPECT_EQ(state(id), JobState::done);
}

TEST_P(PublishingInFolder, StoreTurnedReadOnlyIsNotFullDiskAndRecovers) {
  struct ReadOnlyDisk : FullDisk {
    explicit ReadOnlyDisk(off_t) : FullDisk(0, EROFS) {}
  };
  const JobId id = add("a");
  const Lease lease = *claim();
  const Error refused = refusal_within<ReadOnlyDisk>(lease);
  EXPECT_EQ(refused.fault, Fault::refused) << refused.text();
  EXPECT_NE(refused.text().find("has turned read-only"), std::string::npos) << refused.text();
  EXPECT_EQ(state(id), JobState::running);
  EXPECT_TRUE(*store_->complete(lease.key, {}, {}));
}

TEST_P(PublishingInFolder, StoreAtFileSizeLimitReportsItAndChangesNothing) {
  const JobId id = add("a");
  const Lease lease = *claim();
  const Error refused = refusal_within<SmallFiles>(lease);
  EXPECT_EQ(refused.fault, Fault::refused) << refused.text();
  EXPECT_NE(refused.text().find("ulimit -f"), std::string::npos) << refused.text();
  EXPECT_EQ(state(id), JobState::running);
  EXPECT_TRUE(*store_->complete(lease.key, {}, {}));
}

}  // namespace
}  // namespace tutti
