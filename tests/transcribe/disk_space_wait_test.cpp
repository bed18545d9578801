#include "transcribe/batch/disk_space_wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include "support/closed_folder.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

class DiskSpaceWaitTest : public testing::Test {
 protected:
  LogCapture log_;
  TempFolder folder_;
  int changes_ = 0;
  DiskSpaceWait wait_{{{folder_.path(), "outputs"}, {folder_.path(), "state"}},
                      "what is transcribed is kept and written",
                      [this] { ++changes_; }};
};

tl::unexpected<Error> full() {
  return fail(Fault::full, "out/a.txt: could not be written: No space left on device");
}

}  // namespace

TEST_F(DiskSpaceWaitTest, FailedWriteIsRetriedAndHoldsNewWork) {
  int tries = 0;
  const auto written = wait_.retry_until_written({12'000}, [&]() -> Result<int> {
    EXPECT_EQ(wait_.hold(), tries > 0 ? DiskSpaceWait::Hold::full : DiskSpaceWait::Hold::none);
    EXPECT_EQ(wait_.why().empty(), tries == 0);
    if (++tries < 3) return full();
    return 7;
  });
  EXPECT_EQ(written, 7);
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(wait_.hold(), DiskSpaceWait::Hold::none);
  EXPECT_EQ(wait_.why(), "");
  EXPECT_EQ(changes_, 2) << "once full, once not";
}

TEST_F(DiskSpaceWaitTest, NeededAndFreeSpaceAreLoggedOnce) {
  int tries = 0;
  const auto write = [&]() -> Result<void> {
    if (++tries < 3) return full();
    return {};
  };
  EXPECT_TRUE(wait_.retry_until_written({12'000}, write));
  const std::string reported = log_.wait_for("No space left on device").text;
  EXPECT_NE(reported.find("12 kB are needed; free: "), std::string::npos) << reported;
  EXPECT_NE(reported.find("(outputs)"), std::string::npos) << reported;
  EXPECT_EQ(log_.count("No space left on device"), 1);
  EXPECT_EQ(log_.count("There is space again"), 1);
}

TEST_F(DiskSpaceWaitTest, DiskWithFreeOrUnknownSpaceIsNotWaitedFor) {
  EXPECT_TRUE(wait_.expect_some());
  wait_.await_some();
  EXPECT_EQ(changes_, 0);
  EXPECT_TRUE(DiskSpaceWait({DiskSpaceWait::Location{}}, "", [] {}).expect_some());
}

TEST_F(DiskSpaceWaitTest, UnwritableFolderIsWaitedForAndLoggedOnce) {
  std::optional<ClosedFolder> closed(folder_.path());
  int tries = 0;
  const auto written = wait_.retry_until_written({12'000}, [&]() -> Result<int> {
    EXPECT_EQ(wait_.hold(), tries > 0 ? DiskSpaceWait::Hold::not_writable : DiskSpaceWait::Hold::none);
    EXPECT_FALSE(wait_.expect_some());
    if (++tries < 3) return fail(Fault::refused, "out/a.txt: could not be created: Permission denied");
    closed.reset();
    return 7;
  });
  EXPECT_EQ(written, 7);
  EXPECT_EQ(wait_.hold(), DiskSpaceWait::Hold::none);
  EXPECT_TRUE(wait_.expect_some());
  EXPECT_EQ(log_.count("Permission denied. Make that writable again"), 1);
  EXPECT_EQ(log_.count("It can be written to again"), 1);
}

TEST_F(DiskSpaceWaitTest, WaitersRetryOneAtATime) {
  std::latch both_wait(2);
  std::atomic<int> writing = 0, most = 0;
  const auto write_late = [&] {
    return wait_.retry_until_written({}, [&, again = false]() mutable -> Result<void> {
      if (!std::exchange(again, true)) {
        both_wait.arrive_and_wait();
        return full();
      }
      most = std::max(most.load(), ++writing);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other would come meanwhile
      --writing;
      return {};
    });
  };
  auto other = std::async(std::launch::async, write_late);
  EXPECT_TRUE(write_late());
  EXPECT_TRUE(other.get());
  EXPECT_EQ(most, 1);
}

TEST_F(DiskSpaceWaitTest, AfterTheFirstWaiterTheNextReasonIsLogged) {
  auto first = wait_.wait({}, full().value());
  auto second = wait_.wait({}, {Fault::refused, "out/b.txt: could not be created: Permission denied"});
  EXPECT_EQ(wait_.hold(), DiskSpaceWait::Hold::full);
  first.reset();
  EXPECT_EQ(wait_.hold(), DiskSpaceWait::Hold::not_writable);
  EXPECT_NE(wait_.why().find("Permission denied"), std::string::npos) << wait_.why();
  EXPECT_EQ(log_.count("Permission denied. Make that writable again"), 1);
  EXPECT_EQ(log_.count("the batch goes on"), 0) << "it does not";
  second.reset();
  EXPECT_EQ(wait_.hold(), DiskSpaceWait::Hold::none);
  EXPECT_EQ(log_.count("It can be written to again: the batch goes on"), 1);
  EXPECT_EQ(changes_, 3);
}

TEST_F(DiskSpaceWaitTest, ConcurrentWaitersNotifyInOrderEndingInTheTrueState) {
  std::atomic<int> inside = 0, together = 0;
  DiskSpaceWait space_wait({{folder_.path(), "outputs"}}, "it is written", [&] {
    if (++inside > 1) ++together;
    --inside;
  });
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) (void)space_wait.wait({}, full().value());
      });
  }
  EXPECT_EQ(together, 0) << "one after the other";
  EXPECT_EQ(space_wait.hold(), DiskSpaceWait::Hold::none);
  const int stops = log_.count("No space left on device");
  ASSERT_EQ(log_.count("There is space again"), stops);
  for (int stop = 1; stop <= stops; ++stop) {
    const auto again = log_.wait_for("There is space again", stop).at;
    EXPECT_LE(log_.wait_for("No space left on device", stop).at, again);
    if (stop == stops) break;
    EXPECT_LE(again, log_.wait_for("No space left on device", stop + 1).at);
  }
}

TEST_F(DiskSpaceWaitTest, AnotherFaultIsNotWaitedFor) {
  int tries = 0;
  const auto written = wait_.retry_until_written({}, [&]() -> Result<void> {
    ++tries;
    return fail(Fault::refused, "out/a.txt: could not be created: Permission denied");
  });
  EXPECT_EQ(written.error().fault, Fault::refused);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(changes_, 0);
}

TEST_F(DiskSpaceWaitTest, CloseCancelsWaitersAndLaterWritesTryOnce) {
  auto waiting = std::async(std::launch::async,
                            [&] { return wait_.retry_until_written({}, []() -> Result<void> { return full(); }); });
  log_.wait_for("No space left on device");
  wait_.close();
  EXPECT_EQ(waiting.get().error().fault, Fault::cancelled);
  EXPECT_EQ(wait_.retry_until_written({}, []() -> Result<void> { return full(); }).error().fault, Fault::cancelled);
  EXPECT_EQ(wait_.hold(), DiskSpaceWait::Hold::none);
}
