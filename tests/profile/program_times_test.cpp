// What looks at a program add up to, by a kernel that is played.

#include "profile/program_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

constexpr int kSelf = 1, kRoot = 10;

/// A process with one thread that computes all the time from `start` to `end`.
struct Played {
  int number = 0, parent = kSelf;
  double start = 0, end = 0;
  double running = 1;  // its share of the time
  bool is_waited_for = true;
};

double in_ticks(double seconds) {
  return static_cast<double>(static_cast<long>(seconds * 100 + 1e-6)) / 100;
}

class PlayedProgram {
 public:
  explicit PlayedProgram(std::vector<Played> processes) : processes_(std::move(processes)) {}

  ProgramLook look(double now) const {
    ProgramLook look{.at = Seconds(now), .ended = Seconds(children_of(kSelf, now))};
    for (const Played& it : processes_) {
      if (now < it.start || now >= it.end) continue;
      ThreadCounters thread{.thread = it.number, .start = Seconds(in_ticks(it.start)), .name = name_of(it)};
      thread.is_runnable = it.running > 0.5;
      thread.ran = Seconds(it.running * (now - it.start));
      look.processes.push_back({.process = it.number,
                                .parent = parent_of(it, now),
                                .start = thread.start,
                                .name = name_of(it),
                                .is_root = it.number == kRoot,
                                .ran = Seconds(in_ticks(thread.ran.count())),
                                .children_ran = Seconds(in_ticks(children_of(it.number, now))),
                                .threads = {thread}});
    }
    return look;
  }

  OutsideRun seen(double until, double every = 0.02) const {
    ProgramTimes times;
    for (double now = 0; now < until; now += every) times.add(look(now));
    times.add(look(until));
    OutsideRun run = times.finish();
    run.cores = 2;
    return run;
  }

 private:
  static std::string name_of(const Played& it) { return it.number == kRoot ? "sh" : it.number < 100 ? "make" : "cc1"; }

  int parent_of(const Played& it, double now) const {
    for (const Played& other : processes_)
      if (other.number == it.parent && now < other.end) return other.number;
    return kSelf;
  }

  /// What the children of a process took that ended and were waited for.
  double children_of(int parent, double now) const {
    double sum = 0;
    for (const Played& it : processes_)
      if (it.end <= now && it.is_waited_for && parent_of(it, it.end) == parent)
        sum += it.running * (it.end - it.start) + children_of(it.number, now);
    return sum;
  }

  std::vector<Played> processes_;
};

double ran(const OutsideRun& run) {
  double sum = 0;
  for (const ThreadGroup& group : run.groups) sum += group.times.running.count();
  return sum;
}

/// A shell that waits while `count` children of `parent` each compute for `length`, one after the other.
std::vector<Played> one_after_the_other(int count, double length, int parent = kRoot) {
  std::vector<Played> all{{kRoot, kSelf, 0, count * length, 0.02}};
  for (int i = 0; i < count; ++i) all.push_back({100 + i, parent, i * length, (i + 1) * length - 1e-4});
  return all;
}

TEST(ProgramTimes, ChildrenOneAfterTheOtherComputeAllTheTime) {
  for (const double length : {0.003, 0.025, 0.07}) {
    const int count = static_cast<int>(3 / length);
    const OutsideRun run = PlayedProgram(one_after_the_other(count, length)).seen(count * length);
    EXPECT_NEAR(ran(run), count * (1.02 * length - 1e-4), 0.03 * count * length) << length;
    EXPECT_NEAR(run.busiest.running / run.elapsed, 1 - 1e-4 / length, 0.05) << length;
    EXPECT_EQ(finding_of(run).limit, OutsideLimit::one_process) << length;
    EXPECT_NEAR(finding_of(run).gain, 1, 0.1) << "on two cores instead of one";
    EXPECT_NEAR(run.unwaited.count(), 0, 0.05);
  }
}

TEST(ProgramTimes, ProgramWithAFewShortChildrenIsOneThread) {
  const OutsideRun run =
      PlayedProgram({{kRoot, kSelf, 0, 3.007}, {100, kRoot, 0.1, 0.11}, {101, kRoot, 0.2, 0.204}}).seen(3.01);
  EXPECT_EQ(run.busiest_processes, 1);
  EXPECT_EQ(finding_of(run).limit, OutsideLimit::one_thread);
}

TEST(ProgramTimes, ChildrenOfChildrenCountOnce) {
  auto all = one_after_the_other(200, 0.015, 11);
  all.push_back({11, kRoot, 0, 2.5, 0.01});
  all.push_back({12, kRoot, 2.5, 3, 0.01});
  for (Played& it : all)
    if (it.number >= 100 && it.start >= 2.49) it.parent = 12;
  const OutsideRun run = PlayedProgram(all).seen(3);
  EXPECT_NEAR(ran(run), 3.09, 0.1);
  EXPECT_EQ(finding_of(run).limit, OutsideLimit::one_process);
}

TEST(ProgramTimes, ChildrenThatLoseTheirParentCount) {
  std::vector<Played> all{{kRoot, kSelf, 0, 3, 0.01}};
  for (int i = 0; i < 50; ++i) {  // a fork that forks and ends
    all.push_back({20 + i, kRoot, i * 0.06, i * 0.06 + 0.002});
    all.push_back({100 + i, 20 + i, i * 0.06 + 0.001, i * 0.06 + 0.058});
  }
  const OutsideRun run = PlayedProgram(all).seen(3);
  EXPECT_NEAR(ran(run), 50 * 0.059 + 0.03, 0.1);
  EXPECT_EQ(finding_of(run).limit, OutsideLimit::one_process);
}

TEST(ProgramTimes, ChildrenSideBySideAreSeveral) {
  auto all = one_after_the_other(150, 0.02);
  for (int i = 0; i < 150; ++i) all.push_back({500 + i, kRoot, i * 0.02, (i + 1) * 0.02 - 1e-4});
  const OutsideRun run = PlayedProgram(all).seen(3);
  EXPECT_NEAR(ran(run), 6.06, 0.15);
  EXPECT_EQ(finding_of(run).limit, OutsideLimit::all_cores);
}

TEST(ProgramTimes, ChildrenInOnePartOfTheRunAreNoOneProcess) {
  auto all = one_after_the_other(50, 0.02);
  for (int i = 0; i < 50; ++i) all.push_back({500 + i, kRoot, i * 0.02, (i + 1) * 0.02 - 1e-4});
  all[0].end = 4;
  const OutsideRun run = PlayedProgram(all).seen(4);
  EXPECT_NEAR(ran(run), 2.08, 0.1);
  EXPECT_NE(finding_of(run).limit, OutsideLimit::one_process) << "a quarter of the time on both cores";
}

TEST(ProgramTimes, ChildrenThatAreNotWaitedForHideNoOthers) {
  auto all = one_after_the_other(150, 0.02);
  for (Played& it : all) it.is_waited_for = it.number == kRoot || it.number % 2 == 0;
  const OutsideRun run = PlayedProgram(all).seen(3, 0.013);
  EXPECT_GT(ran(run), 1.5 + 0.4) << "those that were waited for, and what was seen of the others";
  EXPECT_LT(ran(run), 3.1);
}

TEST(ProgramTimes, ProcessThatOutlivesTheProgramIsNamed) {
  const OutsideRun run = PlayedProgram({{kRoot, kSelf, 0, 1, 0.01}, {100, kRoot, 0.2, 9}}).seen(2);
  EXPECT_EQ(run.still_running, 1);
  EXPECT_NEAR(ran(run), 1.81, 0.05);
  EXPECT_NEAR(run.unwaited.count(), 1.8, 0.05);
}

TEST(ProgramTimes, BytesOfChildrenCountOnce) {
  const ProcessCounters root{.process = kRoot, .parent = kSelf, .name = "sh", .is_root = true};
  ProcessCounters child{.process = 100, .parent = kRoot, .name = "dd"};
  child.major_faults = 7;
  child.read = Bytes{1000};
  child.written = Bytes{500};
  ProcessCounters parent = root;  // has waited for it, and for one that no look has seen
  parent.major_faults = 9;
  parent.read = Bytes{1300};
  parent.written = Bytes{600};
  for (const bool is_seen_after : {true, false}) {
    ProgramTimes times;
    times.add({.at = Seconds(0), .processes = {root, child}});
    if (is_seen_after) times.add({.at = Seconds(1), .processes = {parent}});
    times.add({.at = Seconds(2)});
    const OutsideRun run = times.finish();
    EXPECT_EQ(run.major_faults, is_seen_after ? 9 : 7);
    EXPECT_EQ(run.read.value, is_seen_after ? 1300 : 1000);
    EXPECT_EQ(run.written.value, is_seen_after ? 600 : 500);
  }
}

/// What the looks at one process with one thread find.
struct PlayedWaits {
  std::string states{};     // at each look: R, D or S
  double running = 0;       // share of the time
  double counted = 0;       // the same that the kernel counts for disks
  std::int64_t read = 512;  // bytes between two looks
  SleepingCall call{};
  bool shows_bytes = true;
};

OutsideRun seen(const PlayedWaits& played) {
  ProgramTimes times;
  for (std::size_t i = 0; i < played.states.size(); ++i) {
    const double now = 0.02 * static_cast<double>(i);
    const char state = played.states[i];
    ThreadCounters thread{
        .thread = kRoot, .name = "sh", .is_runnable = state == 'R', .is_uninterruptible = state == 'D'};
    thread.call = played.call;
    thread.ran = Seconds(played.running * now);
    thread.disk = Seconds(played.counted * now);
    ProcessCounters process{.process = kRoot, .parent = kSelf, .name = "sh", .is_root = true};
    process.read = Bytes{played.read * static_cast<std::int64_t>(i + 1)};
    process.shows_bytes = played.shows_bytes;
    process.threads = {thread};
    times.add({.at = Seconds(now), .processes = {process}});
  }
  return times.finish();
}

double disk_share(const OutsideRun& run) {
  return run.busiest.disk / run.elapsed;
}

TEST(ProgramTimes, WaitsForADiskAreWholeThoughLooksFindItRunning) {
  std::string states;
  for (int i = 0; i < 100; ++i) states += "RDRRDD";
  const OutsideRun run = seen({.states = states, .running = 0.5});
  EXPECT_NEAR(run.busiest.disk / run.elapsed, 0.5, 0.01);
  EXPECT_NEAR(run.busiest.blocked / run.elapsed, 0, 0.01);
  EXPECT_EQ(finding_of(run).limit, OutsideLimit::disk);
}

TEST(ProgramTimes, WaitsOfOnePhaseAreNotThoseOfAnother) {
  const OutsideRun run = seen({.states = std::string(300, 'D') + std::string(300, 'S')});
  EXPECT_NEAR(run.busiest.disk / run.elapsed, 0.5, 0.01);
}

TEST(ProgramTimes, WhatTheKernelCountsForDisksIsTheLeast) {
  const OutsideRun run = seen({.states = std::string(200, 'S'), .running = 0.1, .counted = 0.6});
  EXPECT_NEAR(run.busiest.disk / run.elapsed, 0.6, 0.01) << "no look found it";
  EXPECT_NEAR(run.busiest.blocked / run.elapsed, 0.3, 0.01);
}

TEST(ProgramTimes, SleepWithoutAByteFromADiskIsNoDiskWait) {
  const std::string sleeps(200, 'D');
  EXPECT_NEAR(disk_share(seen({.states = sleeps, .running = 0.1, .read = 0})), 0, 0.01);
  EXPECT_EQ(finding_of(seen({.states = sleeps, .running = 0.1, .read = 0})).limit, OutsideLimit::waiting);
  EXPECT_NEAR(disk_share(seen({.states = sleeps, .running = 0.1, .read = 512})), 0.9, 0.01);
  EXPECT_NEAR(disk_share(seen({.states = sleeps, .running = 0.1, .read = 0, .shows_bytes = false})), 0.9, 0.01);
}

TEST(ProgramTimes, CallOfASleepDecidesWhetherItIsADiskWait) {
  const std::string sleeps(200, 'D');
  EXPECT_NEAR(disk_share(seen({.states = sleeps, .running = 0.1, .call = SleepingCall::starts_process})), 0, 0.01)
      << "its children read";
  EXPECT_NEAR(disk_share(seen({.states = sleeps, .running = 0.1, .read = 0, .call = SleepingCall::syncs_files})), 0.9,
              0.01);
}

TEST(ProgramTimes, OneLongDiskWaitIsWhole) {
  ProgramTimes times;
  for (int i = 0; i <= 100; ++i) {  // a page is requested before the first look, and comes 2 s later
    ThreadCounters thread{.thread = kRoot, .name = "sh", .is_uninterruptible = true};
    ProcessCounters process{.process = kRoot, .parent = kSelf, .name = "sh", .is_root = true, .major_faults = 1};
    process.shows_bytes = true;
    process.threads = {thread};
    times.add({.at = Seconds(0.02 * i), .processes = {process}});
  }
  EXPECT_NEAR(disk_share(times.finish()), 1, 0.01);
}

}  // namespace
}  // namespace tutti
