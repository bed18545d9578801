#include "advise/outside_run.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using enum OutsideLimit;

constexpr Seconds kRun{10};

/// Times as shares of a run of 10 s; the rest is blocked.
ThreadTimes times(double running, double core_wait = 0, double disk = 0) {
  return {running * kRun, core_wait * kRun, disk * kRun, (1 - running - core_wait - disk) * kRun};
}

/// `count` threads that are all like this one, on four cores.
OutsideRun run_of(const ThreadTimes& one, int count = 1) {
  OutsideRun run{.elapsed = kRun, .cores = 4, .busiest = one, .most_runnable = count};
  ThreadGroup group{.process = "python3", .thread = "python3", .processes = 1, .threads = count, .computing = count};
  for (int i = 0; i < count; ++i) group.times += one;
  run.groups.push_back(group);
  return run;
}

TEST(OutsideRun, EachPlantedCauseIsNamed) {
  EXPECT_EQ(finding_of(run_of(times(0.98))).limit, one_thread);
  EXPECT_EQ(finding_of(run_of(times(0.97), 4)).limit, all_cores);
  EXPECT_EQ(finding_of(run_of(times(0.24), 4)).limit, one_at_a_time) << "four threads and one lock";
  EXPECT_EQ(finding_of(run_of(times(0.45, 0.5), 8)).limit, too_many_threads);
  EXPECT_EQ(finding_of(run_of(times(0.5, 0.45))).limit, other_processes);
  EXPECT_EQ(finding_of(run_of(times(0.3, 0, 0.6))).limit, disk);
  EXPECT_EQ(finding_of(run_of(times(0.02))).limit, waiting) << "a socket, or a timer";
  EXPECT_EQ(finding_of(run_of(times(0.6, 0.05))).limit, unknown);
  auto quota = run_of(times(0.5, 0.45));
  quota.machine.throttled_cores = 0.5;
  EXPECT_EQ(finding_of(quota).limit, cpu_quota);
  auto swapping = run_of(times(0.3, 0, 0.6));
  swapping.machine.swapped_a_second = 5000;
  EXPECT_EQ(finding_of(swapping).limit, memory);
}

TEST(OutsideRun, OtherProgramsAreTheCauseWhereAllCoresWouldDo) {
  auto lock = run_of(times(0.13, 0.13), 4);
  lock.most_runnable = 9;
  lock.machine.other_cores = 3;
  EXPECT_EQ(finding_of(lock).limit, other_processes) << "four threads and one lock, beside other load";
  EXPECT_NEAR(finding_of(lock).share, 0.5, 1e-9) << "one of them waits for a core";
  lock.machine.other_cores = 0.1;
  EXPECT_EQ(finding_of(lock).limit, one_at_a_time) << "they wait for one another's cores";
  auto own = run_of(times(0.45, 0.5), 8);
  own.machine.other_cores = 0.4;
  EXPECT_EQ(finding_of(own).limit, too_many_threads) << "its own threads have most of the cores";
  auto waiters = run_of(times(0.05, 0.6), 8);
  waiters.machine.other_cores = 3.5;
  EXPECT_EQ(finding_of(waiters).limit, other_processes)
      << "eight threads and one lock, each waits for it and for a core";
}

TEST(OutsideRun, LargerWaitIsTheCause) {
  EXPECT_EQ(finding_of(run_of(times(0.1, 0.58, 0.28))).limit, other_processes);
  EXPECT_EQ(finding_of(run_of(times(0.1, 0.28, 0.58))).limit, disk);
}

TEST(OutsideRun, ProcessesThatTakeTurnsAreNoThreads) {
  auto turns = run_of(times(0.48), 2);
  turns.groups[0].processes = 2;
  EXPECT_EQ(finding_of(turns).limit, one_process);
  auto two = run_of(times(0.48), 1);
  two.groups.push_back(two.groups[0]);
  two.groups[1].process = "cc1 (child)";
  EXPECT_EQ(finding_of(two).limit, one_process);
  auto children = run_of(times(0.97));
  children.busiest_processes = 120;
  EXPECT_EQ(finding_of(children).limit, one_process);
  EXPECT_NEAR(finding_of(children).gain, 3, 1e-9) << "on four cores instead of one";
}

TEST(OutsideRun, GainIsWhatTheBusiestThreadLoses) {
  EXPECT_NEAR(finding_of(run_of(times(0.4, 0, 0.5))).gain, 1, 1e-9) << "half of the time waits for the disk";
  EXPECT_NEAR(finding_of(run_of(times(0.6, 0.4))).gain, 1 / 0.6 - 1, 1e-9);
  EXPECT_NEAR(finding_of(run_of(times(1))).gain, 3, 1e-9) << "on four cores instead of one";
}

TEST(OutsideRun, NothingSeenIsNoFinding) {
  EXPECT_EQ(finding_of({}).limit, unknown);
}

}  // namespace
}  // namespace tutti
