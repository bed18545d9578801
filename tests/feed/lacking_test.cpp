// What the machine lacks is no fault of a sample.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "feed/bad_samples.h"
#include "feed/buffers.h"
#include "feed/corpus.h"
#include "feed/source/dataset.h"
#include "feed/stages/plan_stage.h"
#include "feed/stages/sample_stages.h"
#include "support/environment.h"
#include "support/log_capture.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// One sample in a format that only FFmpeg reads.
class Film : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(std::filesystem::path(TUTTI_SOURCE_DIR) / "samples/mixed.m4a", audio());
    corpus_.write(R"({"id":"s0","audio":"mixed.m4a","text":"a","start":0,"end":2})");
  }
  std::filesystem::path audio() const { return corpus_.folder() / "mixed.m4a"; }

  Corpus corpus_{std::vector<double>()};
  const std::filesystem::path bad_ = corpus_.folder() / "bad.jsonl";
};

TEST_F(Film, VideoIsDecodedLikeAnyOtherSample) {
  const auto batches = all_batches(options_for(corpus_.manifest()));
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].samples.at(0).frames, 200);
}

TEST_F(Film, MissingDecoderEndsTheFeedAndBlamesNoSample) {
  const TempFolder libraries;
  for (int version = 55; version < 70; ++version)  // whichever this was built for is found first, and is none
    ASSERT_TRUE(write_file_atomically(libraries / ("libavformat.so." + std::to_string(version)), ""));
  const ScopedVariable hidden("LD_LIBRARY_PATH", libraries.path().c_str());  // from decoding children
  FeedOptions options = options_for(corpus_.manifest());
  options.bad_samples = bad_;
  Feed feed = opened(options);
  const auto batch = feed.next();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().fault, Fault::missing);
  EXPECT_THAT(batch.error().text(), testing::AllOf(HasSubstr("s0: "), HasSubstr("FFmpeg's library libavformat.so."),
                                                   HasSubstr("Install FFmpeg's libraries")));
  EXPECT_EQ(read_file(bad_).value(), "") << "it is as good as it was";
}

TEST_F(Film, MissingTempFolderEndsTheFeedAndBlamesNoSample) {
  FeedOptions options = options_for(corpus_.manifest());
  options.bad_samples = bad_;
  const std::string nowhere = corpus_.folder() / "nowhere";
  const ScopedVariable gone("TMPDIR", nowhere.c_str());
  Feed feed = opened(options);
  const auto batch = feed.next();
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().text(), testing::AllOf(HasSubstr("s0: "), HasSubstr("nowhere"), HasSubstr("Point TMPDIR")));
  EXPECT_EQ(read_file(bad_).value(), "");
}

TEST_F(Film, FileDeletedBeforeDecodingIsABadSample) {
  const FeedOptions options = options_for(corpus_.manifest());
  const auto set = open_dataset(options.data, "", {}).value();
  SampleStages stages(options, *set, nullptr);
  PendingSample row{.work = std::make_shared<PendingBatch>(), .planned = {.index = 0, .frames = 200}};
  stages.read(row);
  ASSERT_TRUE(row.needs_audio());
  std::filesystem::remove(audio());
  stages.decode(row);
  EXPECT_FALSE(row.shortage());
  ASSERT_TRUE(row.bad());
  EXPECT_THAT(row.bad()->what, HasSubstr("No such file"));
}

/// Decodes Film's samples in children that run a shell script first; "$@" behind `program` are the child's arguments.
class KilledDecoders : public Film {
 protected:
  void SetUp() override {
    Film::SetUp();
    const std::string script = corpus_.folder() / "decoder", seen = corpus_.folder() / "seen";
    std::filesystem::create_directory(seen);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    ASSERT_TRUE(write_file_atomically(script, "#!/bin/sh\ncd '" + seen + "' || exit 1\nprogram='" + program + "'\n" +
                                                  "echo \"$2\" >> asked\n. '" + script + ".sh'\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    decoder_.emplace("TUTTI_DECODER", script.c_str());
  }
  void TearDown() override { decoder_.reset(); }
  void does(const std::string& lines) { ASSERT_TRUE(write_file_atomically(corpus_.folder() / "decoder.sh", lines)); }
  std::string seen(const char* file) const { return read_file(corpus_.folder() / "seen" / file).value_or("absent"); }

 private:
  std::optional<ScopedVariable> decoder_{};
};

TEST_F(KilledDecoders, AreTriedAgainOneByOneAndNoSampleIsBlamed) {
  std::filesystem::copy_file(audio(), corpus_.folder() / "other.m4a");
  corpus_.write(
      "{\"id\":\"s0\",\"audio\":\"mixed.m4a\",\"text\":\"a\",\"start\":0,\"end\":2}\n"
      "{\"id\":\"s1\",\"audio\":\"other.m4a\",\"text\":\"a\",\"start\":0,\"end\":2}\n");
  // The first two are killed while both are at work.
  does(R"(
if [ ! -e "$2" ]; then
  touch "$2"
  until [ -e mixed.m4a ] && [ -e other.m4a ]; do sleep 0.01; done
  kill -KILL $$
fi
mkdir busy || touch together
sleep 0.1
"$program" "$@"
rmdir busy
)");
  FeedOptions options = options_for(corpus_.manifest());
  options.bad_samples = bad_;
  options.padding = Padding::window;  // as they come, so both in one batch
  const auto batches = all_batches(options);
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].size(), 2);
  EXPECT_EQ(batches[0].samples[0].frames, 200);
  EXPECT_EQ(batches[0].samples[1].frames, 200);
  EXPECT_EQ(read_file(bad_).value(), "");
  EXPECT_EQ(seen("together"), "absent");
}

TEST_F(KilledDecoders, AreTriedAgainBeforeAnotherFileIsBegun) {
  for (const char* name : {"other.m4a", "third.m4a"}) std::filesystem::copy_file(audio(), corpus_.folder() / name);
  does(R"(
if [ "$2" = other.m4a ]; then
  until [ -e release ]; do sleep 0.01; done
elif [ "$2" = mixed.m4a ] && [ ! -e killed ]; then
  touch killed
  kill -KILL $$
fi
exec "$program" "$@"
)");
  LogCapture log;
  const ChildDecoder decoder;
  const auto decode = [&](const char* name) {
    return std::jthread([&, path = corpus_.folder() / name] { EXPECT_TRUE(decoder.decode(path, {})) << path; });
  };
  {
    const auto at_work = decode("other.m4a");
    while (seen("asked") != "other.m4a\n") std::this_thread::yield();
    const auto killed = decode("mixed.m4a");
    log.wait_for("mixed.m4a");
    const auto behind = decode("third.m4a");
    EXPECT_TRUE(write_file_atomically(corpus_.folder() / "seen/release", ""));
  }
  EXPECT_EQ(seen("asked"), "other.m4a\nmixed.m4a\nmixed.m4a\nthird.m4a\n");
}

TEST_F(KilledDecoders, BlameTheSampleThatTheyDieOfByItselfToo) {
  does("kill -KILL $$");
  const FeedOptions options = options_for(corpus_.manifest());
  const auto set = open_dataset(options.data, "", {}).value();
  SampleStages stages(options, *set, nullptr);
  PendingSample row{.work = std::make_shared<PendingBatch>(), .planned = {.index = 0, .frames = 200}};
  stages.read(row);
  stages.decode(row);
  EXPECT_FALSE(row.shortage());
  ASSERT_TRUE(row.bad());
  EXPECT_THAT(row.bad()->what, HasSubstr("was killed from outside"));
  EXPECT_EQ(seen("asked"), "mixed.m4a\nmixed.m4a\n");
}

/// While it exists, this process can open no more files.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Feed, ASampleIsNotBlamedWhereNoDescriptorIsLeftForIt) {
  const Corpus corpus({1.0});
  const FeedOptions options = options_for(corpus.manifest());
  const auto set = open_dataset(options.data, "", {}).value();
  SampleStages stages(options, *set, nullptr);
  PendingSample row{.work = std::make_shared<PendingBatch>(), .planned = {.index = 0, .frames = 100}};
  Probed probed;
  {
    const NoDescriptors none;
    stages.read(row);
    probed = stages.probe(std::move(probed));
  }
  EXPECT_FALSE(row.bad());
  ASSERT_TRUE(row.shortage());
  EXPECT_THAT(row.shortage()->text(), HasSubstr("ulimit -n"));

  PlanBoard board(PlanState{Planner({.most_samples = 2, .by_length = false}, 2, 4)});
  BufferPool buffers;
  const auto bad = BadSamples::counting({});
  PlanStage stage(options, board, buffers, *bad);
  const auto taken = stage.take(std::move(probed), [](RowPtr&&) { return true; });
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().fault, Fault::exhausted);
}

}  // namespace
}  // namespace tutti
