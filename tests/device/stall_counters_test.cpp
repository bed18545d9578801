#include "device/stall_counters.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_folder.h"

namespace tutti {
namespace {

class StallCountersOf : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    const auto file = root_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  StallCounters read() const { return read_stall_counters(root_.path()); }
  const TempFolder root_{};
};

TEST_F(StallCountersOf, SilentMachineAreAbsent) {
  const auto counters = read();
  EXPECT_FALSE(counters.busy || counters.throttled || counters.cpu || counters.memory);
  EXPECT_FALSE(counters.swapped_pages || counters.hot);
}

TEST_F(StallCountersOf, PressureIsTheTimeInWhichSomeProgramWaited) {
  put("proc/pressure/memory", "some avg10=0.00 avg60=0.24 avg300=0.45 total=393932647\nfull avg10=0.00 total=12\n");
  EXPECT_NEAR(read().memory->count(), 393.932647, 1e-9);
}

TEST_F(StallCountersOf, ThrottledGroupOfEitherVersionIsFound) {
  put("proc/self/cgroup", "0::/job\n");
  put("sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 2500000\n");
  EXPECT_NEAR(read().throttled->count(), 2.5, 1e-9);
  put("proc/self/cgroup", "1:cpu:/old\n");
  put("sys/fs/cgroup/cpu/old/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 4000000000\n");
  EXPECT_NEAR(read().throttled->count(), 4, 1e-9);
}

TEST_F(StallCountersOf, SwapAndHeatAreCounted) {
  put("proc/vmstat", "pgfault 1\npswpin 30\npswpout 12\n");
  put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "100\n");
  put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms", "1500\n");
  EXPECT_EQ(read().swapped_pages, 42);
  EXPECT_NEAR(read().hot->count(), 1.5, 1e-9);
}

}  // namespace
}  // namespace tutti
