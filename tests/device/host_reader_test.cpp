#include "device/telemetry/host_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/fake_root.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::Optional;

Clock::Instant at(double seconds) {
  return Clock::Instant(std::chrono::duration_cast<Clock::Instant::duration>(Seconds(seconds)));
}

/// /proc/PID/stat of a process with that many ticks in user and as many in system mode.
std::string stat_of(int pid, const std::string& name, int parent, int ticks, int pages) {
  const auto each = std::to_string(ticks);
  return std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 " + each + " " +
         each + " 0 0 20 0 1 0 100 4096 " + std::to_string(pages) + " 0\n";
}

TEST(HostReader, CoresAreBusyBetweenTwoReadings) {
  const FakeRoot root;
  HostReader reader({}, root.path());
  // Core 1 is switched off.
  root.put("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0\ncpu2 50 0 50 400 0 0 0 0\nctxt 1\n");
  auto host = reader.read(at(1), 1, {});
  EXPECT_EQ(host.busy, std::nullopt) << "nothing to compare with";
  root.put("proc/stat", "cpu  150 0 100 930 20 0 0 0 0 0\ncpu0 100 0 50 400 50 0 0 0\ncpu2 50 0 50 500 0 0 0 0\n");
  host = reader.read(at(2), 1, {});
  EXPECT_THAT(host.busy, Optional(0.25)) << "waiting for a disk is not busy";
  EXPECT_THAT(host.core_busy, ElementsAre(Optional(0.5), std::nullopt, Optional(0.0)));
}

TEST(HostReader, MemoryAndSwapAreRead) {
  const FakeRoot root;
  HostReader reader({}, root.path());
  EXPECT_EQ(reader.read(at(1), 1, {}).swap_total, std::nullopt);
  root.put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\nSwapTotal: 500 kB\nSwapFree: 400 kB\n");
  const auto host = reader.read(at(2), 1, {});
  EXPECT_EQ(host.memory_total, Bytes{1000 * 1024});
  EXPECT_EQ(host.memory_available, Bytes{600 * 1024});
  EXPECT_EQ(host.swap_total, Bytes{500 * 1024});
  EXPECT_EQ(host.swap_used, Bytes{100 * 1024});
}

TEST(HostReader, AProcessTreeIsOursAndOthersAreNot) {
  const FakeRoot root;
  HostReader reader({}, root.path());
  root.put("proc/10/task/10/children", "11 ");
  root.put("proc/10/task/15/children", "12");  // a child of a thread
  root.put("proc/11/task/11/children", "13");
  for (const int pid : {10, 11, 12, 13}) root.put("proc/" + std::to_string(pid) + "/stat", stat_of(pid, "t", 1, 0, 1));
  root.put("proc/13/stat", stat_of(13, "odd ) name", 11, 100, 3));
  root.put("proc/99/stat", stat_of(99, "python", 1, 0, 1));
  auto host = reader.read(at(1), 10, {99, 98});
  std::vector<std::pair<int, bool>> found;
  for (const auto& process : host.processes) found.emplace_back(process.pid, process.own);
  EXPECT_THAT(found, ElementsAre(std::pair(10, true), std::pair(11, true), std::pair(12, true), std::pair(13, true),
                                 std::pair(99, false)));
  EXPECT_EQ(host.processes[3].name, "odd ) name");
  EXPECT_EQ(host.processes[3].parent, 11);
  EXPECT_EQ(host.processes[3].cores, std::nullopt);
  EXPECT_EQ(host.processes[3].resident, Bytes{3 * ::sysconf(_SC_PAGESIZE)});
  const int ticks = static_cast<int>(::sysconf(_SC_CLK_TCK));
  root.put("proc/13/stat", stat_of(13, "odd ) name", 11, 100 + ticks, 3));
  host = reader.read(at(3), 10, {});
  EXPECT_THAT(host.processes[3].cores, Optional(1.0)) << "two seconds of work in two";
}

TEST(HostReader, DiskShowsFreeSpaceAndDeviceTraffic) {
  const FakeRoot root;
  struct stat facts {};
  ASSERT_EQ(::stat(root.path().c_str(), &facts), 0);
  const std::string device = std::to_string(major(facts.st_dev)) + " " + std::to_string(minor(facts.st_dev));
  HostReader reader({root.path(), "/nonexistent/place"}, root.path());
  root.put("proc/diskstats", "   7 0 loop0 1 1 1 1 1 1 1 1\n " + device + " disk 5 0 1000 9 5 0 2000 9 0 0 0\n");
  auto host = reader.read(at(1), 1, {});
  ASSERT_EQ(host.disks.size(), 2u);
  EXPECT_GT(host.disks[0].total->value, 0);
  EXPECT_EQ(host.disks[0].read, std::nullopt);
  EXPECT_EQ(host.disks[1].total, std::nullopt);
  root.put("proc/diskstats", " " + device + " disk 5 0 1010 9 5 0 2000 9 0 0 0\n");
  host = reader.read(at(3), 1, {});
  EXPECT_THAT(host.disks[0].read, Optional(10 * 512 / 2.0));
  EXPECT_THAT(host.disks[0].written, Optional(0.0));
}

TEST(HostReader, TheRealMachineHasUs) {
  HostReader reader;
  const auto host = reader.read(at(1), ::getpid(), {});
  EXPECT_TRUE(host.memory_total);
  EXPECT_FALSE(host.core_busy.empty());
  ASSERT_FALSE(host.processes.empty());
  EXPECT_TRUE(host.processes[0].own);
  EXPECT_GT(host.processes[0].resident->value, 0);
}

}  // namespace
}  // namespace tutti
