#include "device/child_memory.h"

#include <gtest/gtest.h>

#include "base/process/child.h"
#include "support/fake_root.h"
#include "support/log_capture.h"

using namespace tutti;

TEST(ChildMemory, IsThePeakOfTheLargestRunningChild) {
  EXPECT_FALSE(largest_child());
  LogCapture log;
  const std::string large = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); x=; echo ready; sleep 1000";
  auto child = Child::start({.name = "large", .command = {"sh", "-c", large}}).value();
  log.wait_for("ready");
  EXPECT_GT(largest_child().value_or(Bytes{}).value, 30'000'000);
  child->end(Seconds(0));
  EXPECT_FALSE(largest_child());
}

TEST(ChildMemory, IsAbsentWhereTheKernelHidesIt) {
  const FakeRoot root;
  EXPECT_FALSE(largest_child(root.path())) << "no /proc";
  root.put("proc/self/task/7/comm", "tutti\n");
  root.put("proc/8/status", "Name:\tworker\nVmHWM:\t    2048 kB\n");
  EXPECT_FALSE(largest_child(root.path())) << "a kernel that lists no children";
  root.put("proc/self/task/7/children", "8 9 ");
  EXPECT_EQ(largest_child(root.path()), Bytes{2048 * 1024}) << "the other has just gone";
  root.put("proc/8/status", "Name:\tworker\n");
  EXPECT_FALSE(largest_child(root.path())) << "a sandbox that shows no peak";
}
