// What is read of a process and its threads below a folder that is like /proc.

#include "device/process_tree.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace tutti {
namespace {

class ProcessFiles : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const auto path = folder_ / "proc" / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  /// As proc(5) has it: times in ticks.
  static std::string stat(int number, const std::string& name, char state, int parent, int ticks, int children,
                          int disk) {
    return std::to_string(number) + " (" + name + ") " + state + " " + std::to_string(parent) +
           " 77 1 0 -1 4194304 100 200 3 4 " + std::to_string(ticks) + " 5 " + std::to_string(children) +
           " 7 20 0 1 0 900 1000000 50 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 " + std::to_string(disk) + " 0 0";
  }

  void process(int number, char state, int parent, const std::string& children = "") const {
    const std::string folder = std::to_string(number) + "/", task = folder + "task/" + std::to_string(number) + "/";
    const std::string line = stat(number, "a (b) c", state, parent, 40, 30, 25);
    write(folder + "stat", line);
    write(task + "stat", line);
    write(task + "children", children);
  }

  static Seconds ticks(int count) {
    return Seconds(static_cast<double>(count) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  }

  const TempFolder folder_{};
};

TEST_F(ProcessFiles, CountersAreThoseOfTheKernel) {
  process(10, 'D', 1);
  write("10/io", "read_bytes: 4096\nwrite_bytes: 512\n");
  write("10/task/10/schedstat", "2500000000 1500000000 7");
  const auto tree = read_process_tree({10}, folder_.path());
  ASSERT_EQ(tree.size(), 1U);
  const ProcessCounters& it = tree[0];
  EXPECT_EQ(it.name, "a (b) c");
  EXPECT_EQ(it.parent, 1);
  EXPECT_EQ(it.group, 77);
  EXPECT_TRUE(it.is_root);
  EXPECT_FALSE(it.has_ended);
  EXPECT_EQ(it.start, ticks(900));
  EXPECT_EQ(it.ran, ticks(45));
  EXPECT_EQ(it.children_ran, ticks(37));
  EXPECT_EQ(it.major_faults, 7) << "its own and its children's";
  EXPECT_EQ(it.read.value, 4096);
  ASSERT_EQ(it.threads.size(), 1U);
  EXPECT_TRUE(it.shows_bytes);
  EXPECT_TRUE(it.threads[0].is_uninterruptible);
  EXPECT_EQ(it.threads[0].call, SleepingCall::other) << "not known";
  EXPECT_EQ(it.threads[0].disk, ticks(25));
  EXPECT_EQ(it.threads[0].ran, Seconds(2.5));
  EXPECT_EQ(it.threads[0].waited, Seconds(1.5));
}

TEST_F(ProcessFiles, CallOfASleepThatNothingInterruptsIsKnown) {
  process(10, 'D', 1);
  const auto call = [&](const std::string& text) {
    write("10/task/10/syscall", text);
    const auto tree = read_process_tree({10}, folder_.path());
    EXPECT_FALSE(tree.at(0).shows_bytes) << "no io file";
    return tree.at(0).threads.at(0).call;
  };
  EXPECT_EQ(call(std::to_string(SYS_clone3) + " 0x7ffe 0x58 0x0 0x1f 0x7ffe 0x7f 0x7ffe 0x7f\n"),
            SleepingCall::starts_process);
  EXPECT_EQ(call(std::to_string(SYS_fdatasync) + " 0x3 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f\n"), SleepingCall::syncs_files);
  for (const std::string text : {"-1 0x7ffe 0x7f\n", "running\n", "0 0x3 0x7f 0x1000 0x0 0x0 0x0 0x7ffe 0x7f\n"})
    EXPECT_EQ(call(text), SleepingCall::other) << text;
}

TEST_F(ProcessFiles, EndedChildKeepsItsCountersUntilItIsWaitedFor) {
  process(10, 'S', 1, "11 12 13");
  process(11, 'Z', 10);
  process(12, 'Z', 10);
  write("12/task/14/stat", stat(14, "worker", 'R', 10, 1, 0, 0));  // its first thread has ended, another one has not
  const auto tree = read_process_tree({10}, folder_.path());
  ASSERT_EQ(tree.size(), 3U) << "13 is gone";
  for (const ProcessCounters& it : tree) {
    EXPECT_EQ(it.has_ended, it.process == 11);
    EXPECT_EQ(it.threads.size(), it.process == 11 ? 0U : 1U);
    EXPECT_EQ(it.ran, ticks(45));
  }
  EXPECT_EQ(children_of(10, folder_.path()), (std::vector<int>{11, 12, 13}));
}

TEST_F(ProcessFiles, DelayAccountingIsOnOffOrUnknown) {
  EXPECT_EQ(has_delay_accounting(folder_.path()), std::nullopt);
  write("sys/kernel/task_delayacct", "0\n");
  EXPECT_EQ(has_delay_accounting(folder_.path()), false);
  write("sys/kernel/task_delayacct", "1\n");
  EXPECT_EQ(has_delay_accounting(folder_.path()), true);
}

}  // namespace
}  // namespace tutti
