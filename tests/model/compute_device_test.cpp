#include "model/compute_device.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <thread>

namespace tutti {
namespace {

/// The first core that this process may use.
int first_core() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  int core = 0;
  while (!CPU_ISSET(core, &set)) ++core;
  return core;
}

TEST(ComputeDevice, TheProcessorHasAllCoresAndItsOwnThreads) {
  const auto whole = compute_device_named("cpu").value();
  EXPECT_EQ(whole.device, at::Device(at::kCPU));
  EXPECT_EQ(whole.cores, ThreadCores{});
}

TEST(ComputeDevice, CoresAreADeviceWithAsManyThreads) {
  const auto core = first_core();
  const auto name = std::to_string(core);
  for (const auto& text : {name, name + "-" + name, name + "," + name}) {
    const auto some = compute_device_named("cpu:" + text).value();
    EXPECT_EQ(some.device, at::Device(at::kCPU));
    EXPECT_EQ(some.cores, (ThreadCores{.cores = {core}, .threads = 1})) << text;
  }
}

TEST(ComputeDevice, CoresThatAreNotThereAreMissingAndNoNamesUsage) {
  const auto missing = compute_device_named("cpu:1000");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().fault, Fault::missing);
  EXPECT_THAT(missing.error().what, testing::HasSubstr("but these: "));
  for (const char* name : {"cpu:", "cpu:x", "cpu:1-0", "cpu:-1", "cpu:0-1-2", "cpu:,", "cuda:x"}) {
    const auto device = compute_device_named(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().fault, Fault::usage) << name;
  }
  EXPECT_EQ(compute_device_named("bla").error().what,
            "device 'bla': expected cpu, cpu:CORES (cpu:0, cpu:0-3) or cuda:N");
}

TEST(ComputeDevice, ThreadStaysOnItsCoresAndLeavesOthersAlone) {
  const auto core = first_core();
  std::thread([&] {
    use_cores({.cores = {core}, .threads = 1});
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(core, &set));
    EXPECT_EQ(at::get_num_threads(), 1);
  }).join();
  cpu_set_t own;
  ASSERT_EQ(::sched_getaffinity(0, sizeof own, &own), 0);
  EXPECT_EQ(CPU_COUNT(&own), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace tutti
