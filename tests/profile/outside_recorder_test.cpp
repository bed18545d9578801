#include "profile/outside_recorder.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/json.h"
#include "base/process/child.h"
#include "device/process_tree.h"

namespace tutti {
namespace {

/// What is seen of a program for a second; then it is killed.
OutsideRun seen(const std::vector<std::string>& command) {
  const auto child = Child::start({.name = "program", .command = command, .streams = ChildStreams::errors});
  EXPECT_TRUE(child);
  OutsideRecorder recorder((*child)->pid());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return recorder.stop();
}

TEST(OutsideRecorderTimed, SleepingProgramWaits) {
  const OutsideRun run = seen({"sleep", "60"});
  EXPECT_GT(run.elapsed, Seconds(0.5));
  ASSERT_EQ(run.groups.size(), 1U);
  EXPECT_EQ(run.groups[0].process, "sleep");
  EXPECT_EQ(finding_of(run).limit, OutsideLimit::waiting);
  EXPECT_GT(run.most_memory.value, 0);
  EXPECT_NE(outside_text(run).find("Waiting limits the program"), std::string::npos);
}

TEST(OutsideRecorderTimed, ComputingChildIsSeenWithItsName) {
  const OutsideRun run = seen({"sh", "-c", "sh -c 'while :; do :; done' & wait"});
  ASSERT_EQ(run.groups.size(), 2U);
  EXPECT_EQ(run.groups[0].process, "sh (child)");
  const ThreadTimes& busy = run.busiest;
  EXPECT_GT(busy.running + busy.core_wait, 0.8 * busy.all()) << "it runs, or waits for a core of a busy machine";
  const auto json = nlohmann::json::parse(outside_json(run));
  EXPECT_EQ(json.at("threads").size(), 2U);
  EXPECT_EQ(json.at("busiest").at("thread"), "sh");
}

TEST(ProcessTree, ThreadsOnOneCoreWaitForItInTurn) {
  cpu_set_t own, first;
  ASSERT_EQ(::sched_getaffinity(0, sizeof own, &own), 0);
  CPU_ZERO(&first);
  for (std::size_t core = 0; CPU_COUNT(&first) == 0; ++core)
    if (CPU_ISSET(core, &own)) CPU_SET(core, &first);
  Seconds waited[2]{};
  const auto compute = [&](Seconds& sum) {
    ::sched_setaffinity(0, sizeof first, &first);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < end) continue;
    sum = own_core_wait();
  };
  std::thread one([&] { compute(waited[0]); }), two([&] { compute(waited[1]); });
  one.join();
  two.join();
  EXPECT_GT((waited[0] + waited[1]).count(), 0.04) << "together they had 0.1 s";
}

TEST(ProcessTree, ThreadsOfThisProcessAreCounted) {
  std::thread other([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
  const auto tree = read_process_tree({::getpid()});
  other.join();
  ASSERT_FALSE(tree.empty());
  EXPECT_TRUE(tree[0].is_root);
  EXPECT_GE(tree[0].threads.size(), 2U);
  EXPECT_GT(tree[0].threads[0].ran.count(), 0);
  EXPECT_TRUE(read_process_tree({-1}).empty());
}

}  // namespace
}  // namespace tutti
