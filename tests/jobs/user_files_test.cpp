// Files at the names of a job's outputs that the job did not write: they stay, and the new text goes beside them.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/files.h"
#include "jobs/publish.h"
#include "jobs/sqlite/database.h"
#include "jobs/sweep.h"
#include "store_kinds.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class UserFiles : public StoreTest {
 protected:
  fs::path out(const std::string& name) const { return folder_.path() / "out" / name; }
  std::string text_of(const std::string& name) const { return read_file(out(name)).value_or("(missing)"); }
  void put(const std::string& name, const std::string& text) { ASSERT_TRUE(write_file_atomically(out(name), text)); }
  PublishFolders window_capacity(Existing existing = Existing::keep) const { return {out(".tmp"), {}, existing}; }

  /// Publishes a.srt, as the first run of job a or a later one does.
  Published publish(const std::string& text, Existing existing = Existing::keep) {
    id_ = add("a");
    return publish_again(text, existing);
  }
  Published publish_again(const std::string& text, Existing existing = Existing::keep) {
    const std::vector<OutputContent> contents{{out("a.srt"), text}};
    return publish_outputs(*store_, *store_, claim().value(), contents, {}, window_capacity(existing)).value();
  }
  /// Submits the job again as a run with changed options does.
  void renew() {
    JobSpec changed = spec("a");
    changed.options = "small" + std::to_string(++versions_);
    add(changed);
  }
  SweepReport sweep() {
    const fs::path folders[] = {out(".tmp")};
    return sweep_outputs(*store_, folders).value();
  }
  JobOutput staged(const std::string& text) {
    id_ = add("a");
    const Lease lease = claim().value();
    const std::vector<OutputContent> contents{{out("a.srt"), text}};
    const auto staged = stage_outputs(lease, out(".tmp"), contents).value();
    EXPECT_TRUE(store_->complete(lease.key, staged, {}).value());
    return staged.at(0);
  }

  JobId id_ = 0;
  int versions_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Kinds, UserFiles, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });
class UserFilesInFolder : public UserFiles {};
INSTANTIATE_TEST_SUITE_P(Kinds, UserFilesInFolder, testing::ValuesIn(store_kinds_in_folders()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(UserFiles, AFileThatWasThereBeforeStays) {
  put("a.srt", "mine");
  const Published published = publish("text");
  EXPECT_EQ(published.kept, (std::vector<KeptFile>{{out("a.srt"), out("a.new.srt")}}));
  EXPECT_EQ(text_of("a.srt"), "mine");
  EXPECT_EQ(text_of("a.new.srt"), "text");
  EXPECT_EQ(state(id_), JobState::done);
  EXPECT_EQ(store_->redo({}).value(), 0U) << "it is done";
}

TEST_P(UserFiles, AFileWithTheSameTextIsAdopted) {
  put("a.srt", "text");
  const Published published = publish("text");
  EXPECT_TRUE(published.kept.empty());
  EXPECT_FALSE(fs::exists(out("a.new.srt")));
}

TEST_P(UserFiles, FileThatTheJobWroteIsReplaced) {
  ASSERT_TRUE(publish("first").kept.empty());
  for (const char* text : {"second", "third"}) {
    renew();
    EXPECT_TRUE(publish_again(text).kept.empty());
    EXPECT_EQ(text_of("a.srt"), text);
  }
  EXPECT_FALSE(fs::exists(out("a.new.srt")));
}

TEST_P(UserFiles, ACorrectedFileStaysAndIsDoneAgainOnce) {
  publish("text");
  put("a.srt", "TEXT");  // of the same length
  ASSERT_EQ(store_->redo({}).value(), 1U);
  EXPECT_EQ(publish_again("text").kept.size(), 1U);
  EXPECT_EQ(text_of("a.srt"), "TEXT");
  EXPECT_EQ(text_of("a.new.srt"), "text");
  put("a.srt", "TEXT, again");
  fs::remove(out("a.new.srt"));
  EXPECT_EQ(store_->redo({}).value(), 0U) << "the user has what was wanted";
  fs::remove(out("a.srt"));
  EXPECT_EQ(store_->redo({}).value(), 1U) << "now there is none";
}

TEST_P(UserFiles, AFileThatWasOnlyTouchedIsStillTheJobs) {
  publish("text");
  fs::last_write_time(out("a.srt"), fs::file_time_type::clock::now() - 1h);
  EXPECT_EQ(store_->redo({}).value(), 0U);
  renew();
  EXPECT_TRUE(publish_again("other").kept.empty());
  EXPECT_EQ(text_of("a.srt"), "other");
}

TEST_P(UserFiles, ANewTextReplacesOnlyItsOwnFormerOne) {
  put("a.srt", "mine");
  publish("first");
  renew();
  publish_again("second");
  EXPECT_EQ(text_of("a.new.srt"), "second");
  put("a.new.srt", "corrected, too");
  renew();
  EXPECT_EQ(publish_again("third").kept.at(0).new_text, out("a.new2.srt"));
  EXPECT_EQ(text_of("a.srt"), "mine");
  EXPECT_EQ(text_of("a.new.srt"), "corrected, too");
  EXPECT_EQ(text_of("a.new2.srt"), "third");
}

TEST_P(UserFiles, NewTextDoesNotUseAnotherJobsOutputName) {
  JobSpec other = spec("a.new");
  add(other);
  const std::vector<OutputContent> contents{{out("a.new.srt"), "of the recording a.new"}};
  ASSERT_TRUE(publish_outputs(*store_, *store_, claim().value(), contents, {}, window_capacity()));
  put("a.srt", "mine");
  EXPECT_EQ(publish("text").kept.at(0).new_text, out("a.new2.srt"));
  EXPECT_EQ(text_of("a.new.srt"), "of the recording a.new");
}

TEST_P(UserFiles, AreReplacedWhereThatIsWanted) {
  put("a.srt", "mine");
  EXPECT_TRUE(publish("text", Existing::replace).kept.empty());
  EXPECT_EQ(text_of("a.srt"), "text");
  put("a.srt", "corrected");
  renew();
  ASSERT_EQ(publish_again("new").kept.size(), 1U);
  EXPECT_EQ(store_->redo({}, JobAdmin::Redo::missing).value(), 0U);
  ASSERT_EQ(store_->redo({}, JobAdmin::Redo::missing_or_kept).value(), 1U);
  EXPECT_TRUE(publish_again("new", Existing::replace).kept.empty());
  EXPECT_EQ(text_of("a.srt"), "new");
  EXPECT_EQ(store_->redo({}, JobAdmin::Redo::missing_or_kept).value(), 0U);
}

TEST_P(UserFiles, LinksAndUnreadableNamesStay) {
  put("elsewhere.txt", "mine");
  fs::create_symlink("elsewhere.txt", out("a.srt"));
  publish("text");
  EXPECT_EQ(text_of("elsewhere.txt"), "mine");
  EXPECT_TRUE(fs::is_symlink(out("a.srt")));
  EXPECT_EQ(text_of("a.new.srt"), "text");
  fs::remove(out("a.srt"));
  fs::create_symlink("nowhere", out("a.srt"));
  renew();
  EXPECT_EQ(publish_again("again").kept.size(), 1U);
  EXPECT_TRUE(fs::is_symlink(out("a.srt")));
}

TEST_P(UserFiles, AKillBeforeTheRenameDoesNotMakeTheJobsOwnFileAUsers) {
  publish("first");
  renew();
  staged("second");  // recorded, and then killed
  EXPECT_EQ(text_of("a.srt"), "first");
  const SweepReport swept = sweep();
  EXPECT_EQ(swept.put_in_place, 1U);
  EXPECT_TRUE(swept.kept.empty());
  EXPECT_EQ(text_of("a.srt"), "second");
}

TEST_P(UserFiles, AFileThatAppearsBetweenAKillAndTheNextRunStays) {
  staged("text");
  put("a.srt", "mine, meanwhile");
  const SweepReport swept = sweep();
  EXPECT_EQ(swept.put_in_place, 1U);
  EXPECT_EQ(swept.kept, (std::vector<KeptFile>{{out("a.srt"), out("a.new.srt")}}));
  EXPECT_EQ(text_of("a.srt"), "mine, meanwhile");
  EXPECT_EQ(text_of("a.new.srt"), "text");
}

TEST_P(UserFiles, AKillBetweenRecordAndRenameOfTheNewNameLosesNothing) {
  JobOutput output = staged("text");
  put("a.srt", "mine");
  output.kept = out("a.srt");
  output.path = out("a.new.srt");
  ASSERT_TRUE(store_->move_output(id_, output));
  EXPECT_EQ(sweep().put_in_place, 1U);
  EXPECT_EQ(text_of("a.srt"), "mine");
  EXPECT_EQ(text_of("a.new.srt"), "text");
  EXPECT_EQ(store_->outputs(id_).value().at(0).kept, out("a.srt"));
}

TEST_P(UserFiles, AProcessThatIsLateFindsWhatAnotherOneKept) {
  const JobOutput output = staged("text");
  put("a.srt", "mine");
  ASSERT_EQ(sweep().kept.size(), 1U);
  const auto late = put_in_place(*store_, id_, output);
  ASSERT_TRUE(late) << late.error().text();
  EXPECT_EQ(late->path, out("a.new.srt"));
  EXPECT_FALSE(fs::exists(out("a.new2.srt")));
}

TEST_P(UserFiles, ARewrittenOutputIsTheJobsStill) {
  publish("text");
  const JobOutput output = store_->outputs(id_).value().at(0);
  ASSERT_TRUE(rewrite_output(*store_, id_, output, "[Anna]: text"));
  EXPECT_EQ(text_of("a.srt"), "[Anna]: text");
  EXPECT_EQ(store_->redo({}).value(), 0U) << "it is done, and whole";
  EXPECT_NE(store_->outputs(id_).value().at(0).sha256, output.sha256);
  renew();
  EXPECT_TRUE(publish_again("other").kept.empty()) << "no user has edited it";
  EXPECT_EQ(text_of("a.srt"), "other");
}

TEST_P(UserFilesInFolder, FilesOfEarlierVersionsAreUnknownAndStay) {
  publish("text");
  {
    auto database = Database::open(folder_.path() / "state/tutti.sqlite", 5s);
    ASSERT_TRUE(database);
    database->script("UPDATE results SET known = 0, modified_ns = 0");  // as the migration leaves them
  }
  EXPECT_EQ(store_->redo({}).value(), 0U) << "it is done all the same";
  renew();
  EXPECT_EQ(publish_again("other").kept.size(), 1U);
  EXPECT_EQ(text_of("a.srt"), "text");
  EXPECT_EQ(text_of("a.new.srt"), "other");
}

}  // namespace
}  // namespace tutti
