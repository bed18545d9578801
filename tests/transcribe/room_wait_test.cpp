#include "transcribe/batch/room_wait.h"

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

class RoomWaitTest : public testing::Test {
 protected:
  LogCapture log_;
  TempFolder folder_;
  int changes_ = 0;
  RoomWait room_{{{folder_.path(), "outputs"}, {folder_.path(), "state"}},
                 "what is transcribed is kept and written",
                 [this] { ++changes_; }};
};

tl::unexpected<Error> full() {
  return fail(Fault::full, "out/a.txt: could not be written: No space left on device");
}

}  // namespace

TEST_F(RoomWaitTest, WhatFindsNoRoomIsWrittenAgainAndNothingNewIsToBeginMeanwhile) {
  int tries = 0;
  const auto written = room_.patiently({12'000}, [&]() -> Result<int> {
    EXPECT_EQ(room_.hold(), tries > 0 ? RoomWait::Hold::full : RoomWait::Hold::none);
    EXPECT_EQ(room_.why().empty(), tries == 0);
    if (++tries < 3) return full();
    return 7;
  });
  EXPECT_EQ(written, 7);
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(room_.hold(), RoomWait::Hold::none);
  EXPECT_EQ(room_.why(), "");
  EXPECT_EQ(changes_, 2) << "once full, once not";
}

TEST_F(RoomWaitTest, PeopleAreToldOnceWhatIsNeededAndWhatIsFree) {
  int tries = 0;
  const auto write = [&]() -> Result<void> {
    if (++tries < 3) return full();
    return {};
  };
  EXPECT_TRUE(room_.patiently({12'000}, write));
  const std::string told = log_.wait_for("No space left on device").text;
  EXPECT_NE(told.find("12 kB are needed; free: "), std::string::npos) << told;
  EXPECT_NE(told.find("(outputs)"), std::string::npos) << told;
  EXPECT_EQ(log_.count("No space left on device"), 1);
  EXPECT_EQ(log_.count("There is room again"), 1);
}

TEST_F(RoomWaitTest, ADiskWithRoomIsNotWaitedForNorOneThatSaysNothing) {
  EXPECT_TRUE(room_.expect_some());
  room_.await_some();
  EXPECT_EQ(changes_, 0);
  EXPECT_TRUE(RoomWait({RoomWait::Place{}}, "", [] {}).expect_some());
}

TEST_F(RoomWaitTest, AFolderThatMayNotBeWrittenToIsWaitedForAndPeopleAreToldOnce) {
  std::optional<ClosedFolder> closed(folder_.path());
  int tries = 0;
  const auto written = room_.patiently({12'000}, [&]() -> Result<int> {
    EXPECT_EQ(room_.hold(), tries > 0 ? RoomWait::Hold::not_writable : RoomWait::Hold::none);
    EXPECT_FALSE(room_.expect_some());
    if (++tries < 3) return fail(Fault::refused, "out/a.txt: could not be created: Permission denied");
    closed.reset();
    return 7;
  });
  EXPECT_EQ(written, 7);
  EXPECT_EQ(room_.hold(), RoomWait::Hold::none);
  EXPECT_TRUE(room_.expect_some());
  EXPECT_EQ(log_.count("Permission denied. Make that writable again"), 1);
  EXPECT_EQ(log_.count("It can be written to again"), 1);
}

TEST_F(RoomWaitTest, OfThoseWhoWaitOneAtATimeWritesAgain) {
  std::latch both_wait(2);
  std::atomic<int> writing = 0, most = 0;
  const auto write_late = [&] {
    return room_.patiently({}, [&, again = false]() mutable -> Result<void> {
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

TEST_F(RoomWaitTest, WhenTheFirstOneIsThroughItIsToldWhatTheNextOneWaitsFor) {
  auto first = room_.wait({}, full().value());
  auto second = room_.wait({}, {Fault::refused, "out/b.txt: could not be created: Permission denied"});
  EXPECT_EQ(room_.hold(), RoomWait::Hold::full);
  first.reset();
  EXPECT_EQ(room_.hold(), RoomWait::Hold::not_writable);
  EXPECT_NE(room_.why().find("Permission denied"), std::string::npos) << room_.why();
  EXPECT_EQ(log_.count("Permission denied. Make that writable again"), 1);
  EXPECT_EQ(log_.count("the batch goes on"), 0) << "it does not";
  second.reset();
  EXPECT_EQ(room_.hold(), RoomWait::Hold::none);
  EXPECT_EQ(log_.count("It can be written to again: the batch goes on"), 1);
  EXPECT_EQ(changes_, 3);
}

TEST_F(RoomWaitTest, OfThoseWhoComeAndGoAtOnceTheLastThatIsToldIsSo) {
  std::atomic<int> inside = 0, together = 0;
  RoomWait room({{folder_.path(), "outputs"}}, "it is written", [&] {
    if (++inside > 1) ++together;
    --inside;
  });
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) (void)room.wait({}, full().value());
      });
  }
  EXPECT_EQ(together, 0) << "one after the other";
  EXPECT_EQ(room.hold(), RoomWait::Hold::none);
  const int stops = log_.count("No space left on device");
  ASSERT_EQ(log_.count("There is room again"), stops);
  for (int stop = 1; stop <= stops; ++stop) {
    const auto again = log_.wait_for("There is room again", stop).at;
    EXPECT_LE(log_.wait_for("No space left on device", stop).at, again);
    if (stop == stops) break;
    EXPECT_LE(again, log_.wait_for("No space left on device", stop + 1).at);
  }
}

TEST_F(RoomWaitTest, AnotherFaultIsNotWaitedFor) {
  int tries = 0;
  const auto written = room_.patiently({}, [&]() -> Result<void> {
    ++tries;
    return fail(Fault::refused, "out/a.txt: could not be created: Permission denied");
  });
  EXPECT_EQ(written.error().fault, Fault::refused);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(changes_, 0);
}

TEST_F(RoomWaitTest, WhoeverWaitsIsLetGoOfAndWhoeverComesLaterTriesOnce) {
  auto waiting =
      std::async(std::launch::async, [&] { return room_.patiently({}, []() -> Result<void> { return full(); }); });
  log_.wait_for("No space left on device");
  room_.let_go();
  EXPECT_EQ(waiting.get().error().fault, Fault::cancelled);
  EXPECT_EQ(room_.patiently({}, []() -> Result<void> { return full(); }).error().fault, Fault::cancelled);
  EXPECT_EQ(room_.hold(), RoomWait::Hold::none);
}
