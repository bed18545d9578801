#include "device/child_memory.h"

#include <gtest/gtest.h>

#include "base/process/child.h"
#include "support/log_capture.h"

using namespace tutti;

TEST(ChildMemory, IsThePeakOfTheLargestChildThatLives) {
  EXPECT_EQ(largest_child().value, 0);
  LogCapture log;
  const std::string large = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); x=; echo ready; sleep 1000";
  auto child = Child::start({.name = "large", .command = {"sh", "-c", large}}).value();
  log.wait_for("ready");
  EXPECT_GT(largest_child().value, 30'000'000);
  child->end(Seconds(0));
  EXPECT_EQ(largest_child().value, 0);
}
