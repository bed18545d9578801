// What a batch does while the disk of its outputs, or that of decoded audio, is full or may not be written to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "support/eventually.h"
#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A batch that writes to a small disk of its own, which can be filled while it runs.
class FullDiskTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    fs::create_directories(out_);
    if (!fs::exists("/usr/bin/unshare") || run_program(in_own_mounts(kMount, out_)).exit_code != 0)
      GTEST_SKIP() << "needs user namespaces";
  }

  static std::vector<std::string> in_own_mounts(const std::string& script, const fs::path& disk) {
    return {"/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh", disk.string()};
  }
  std::vector<std::string> on_a_small_disk(const fs::path& disk, const std::string& before = "true") const {
    auto all = in_own_mounts(std::string(kMount) + " && " + before + " && shift && exec \"$@\"", disk);
    for (auto& word : words(devices("time = 0.2\n[[device]]\nuse = \"emulated:4x:12GB\"\n"))) all.push_back(word);
    return all;
  }
  /// As the program sees it.
  static fs::path filler(const RunningProgram& running, const fs::path& disk) {
    return "/proc/" + std::to_string(running.pid()) + "/root" + (disk / "filler").string();
  }
  static void fill(const fs::path& filler) { std::ofstream(filler) << std::string(4 << 20, 'x'); }

  static constexpr const char* kMount = "mount -t tmpfs -o size=3m none \"$1\"";
  const fs::path out_ = folder_ / "out";
  const fs::path kept_ = folder_ / "state" / "kept";
};

}  // namespace

TEST_F(FullDiskTest, FullDiskPausesUntilSpaceIsFreeAndRedoesNothing) {
  RunningProgram running(on_a_small_disk(out_), settings());
  ASSERT_TRUE(running.saw("Progress: 1/"));
  fill(filler(running, out_));
  ASSERT_TRUE(running.saw("until then no recording is begun"));
  fs::remove(filler(running, out_));
  const auto end = running.wait();
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("There is space again"));
  EXPECT_EQ(report()["successful"], 10);
  const json reported = report();
  for (const auto& asset : reported["assets"]) EXPECT_EQ(asset["attempts"], 1) << asset.dump();
  EXPECT_FALSE(fs::exists(kept_));
}

TEST_F(FullDiskTest, TranscriptsFinishedDuringThePauseSurviveAKill) {
  RunningProgram running(on_a_small_disk(out_), settings());
  ASSERT_TRUE(running.saw("Progress: 1/"));
  fill(filler(running, out_));
  ASSERT_TRUE(running.saw("until then no recording is begun"));
  eventually([&] { return fs::exists(kept_) && !fs::is_empty(kept_); });
  ::kill(running.pid(), SIGKILL);
  EXPECT_EQ(running.wait().exit_code, 128 + SIGKILL);
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);  // the small disk is gone, and what was on it
  EXPECT_EQ(outputs().size(), 10U);
  EXPECT_LT(report()["done_in_this_run"], 10) << "some were only put in place";
  EXPECT_FALSE(fs::exists(kept_));
}

TEST_F(FullDiskTest, OneForDecodedAudioIsWaitedForAndCostsNoAttempt) {
  const fs::path spool = folder_ / "spool";
  fs::create_directories(spool);
  auto with_spool = settings();
  with_spool.push_back("TMPDIR=" + spool.string());
  RunningProgram running(on_a_small_disk(spool, "{ head -c 3145728 /dev/zero >\"$1/filler\"; true; }"), with_spool);
  ASSERT_TRUE(running.saw("recordings are decoded there as soon as there is space"));
  fs::remove(filler(running, spool));
  const auto end = running.wait();
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("(TMPDIR)"));
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  for (const auto& asset : reported["assets"]) EXPECT_EQ(asset["attempts"], 1) << asset.dump();
}

TEST_F(FullDiskTest, ReadOnlyOutputFolderPausesTheBatchUntilWritable) {
  const fs::path switches = folder_ / "switches";
  ASSERT_EQ(::mkfifo(switches.c_str(), 0600), 0);
  OwnedFd to_mount(::open(switches.c_str(), O_RDWR | O_CLOEXEC));
  const auto turn = [&](const std::string& mode) {
    const std::string line = mode + "\n";
    ASSERT_TRUE(write_all(to_mount.get(), std::as_bytes(std::span(line)), "the switches"));
  };
  // Busy while a file is being written there.
  const std::string listen =
      "{ while read mode; do for again in $(seq 100); do mount -o remount,bind,$mode \"$1\" && break; sleep 0.02; "
      "done; "
      "done <'" +
      switches.string() + "' >/dev/null 2>&1 & }";
  RunningProgram running(on_a_small_disk(out_, listen), settings());
  ASSERT_TRUE(running.saw("Progress: 1/"));
  turn("ro");
  ASSERT_TRUE(running.saw("until then no recording is begun"));
  eventually([&] { return fs::exists(kept_) && !fs::is_empty(kept_); });
  turn("rw");
  to_mount = OwnedFd();  // the reader of the switches has our pipes, too
  const auto end = running.wait();
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Read-only file system. Make that writable again"));
  EXPECT_THAT(end.err, HasSubstr("It can be written to again"));
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  for (const auto& asset : reported["assets"]) EXPECT_EQ(asset["attempts"], 1) << asset.dump();
  EXPECT_FALSE(fs::exists(kept_));
}

TEST_F(FullDiskTest, UnwritableOutputsEndTheBatchUnlessAllIsDone) {
  const auto read_only = [&] {
    auto all =
        in_own_mounts("mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"", out_);
    for (auto& word : words("emulated:200x")) all.push_back(word);
    return run_program(all, settings());
  };
  const auto refused = read_only();
  EXPECT_EQ(refused.exit_code, 4) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("outputs cannot be written there: Read-only file system"));
  EXPECT_THAT(refused.err, Not(HasSubstr("Processing")));
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  const auto done = read_only();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(report()["successful"], 10);
}
