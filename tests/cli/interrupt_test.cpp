#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>

using namespace tutti;
using namespace std::chrono_literals;

TEST(Interrupt, ASignalRaisesItAndTheAbortFollowsTheGrace) {
  Interrupt interrupt(1ms);
  std::promise<bool> aborted;
  interrupt.on_abort([&] { aborted.set_value(interrupt.raised()); });
  EXPECT_FALSE(interrupt.raised());
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  EXPECT_TRUE(aborted.get_future().get()) << "raised before it is aborted";
}

TEST(Interrupt, CallbackAddedAfterTheGraceRunsAtOnce) {
  Interrupt interrupt(1ms);
  std::promise<void> first;
  interrupt.on_abort([&] { first.set_value(); });
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  first.get_future().wait();
  bool reported = false;
  interrupt.on_abort([&] { reported = true; });
  EXPECT_TRUE(reported);
}

TEST(Interrupt, UnraisedInterruptEndsWithoutCallback) {
  Interrupt interrupt(1h);
  bool aborted = false;
  interrupt.on_abort([&] { aborted = true; });
  EXPECT_FALSE(interrupt.raised());
  EXPECT_FALSE(aborted);
}
