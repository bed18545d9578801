#include "device/telemetry/gpu_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using Instant = Clock::Instant;

Instant at(double seconds) {
  return Instant(std::chrono::duration_cast<Instant::duration>(Seconds(100 + seconds)));
}

GpuSnapshot reading(const char* uuid, double when, int index = 0) {
  GpuSnapshot gpu{.uuid = uuid};
  gpu.index = index;
  gpu.power = 50;
  gpu.when = at(when);
  return gpu;
}

TEST(GpuTable, OverdueGpuIsHungWithLastValuesAndAge) {
  GpuTable table(Seconds(3));
  table.on_query(0, "GPU-a", at(0));
  table.answered(reading("GPU-a", 0));
  table.idle(0);
  table.on_query(0, "GPU-a", at(1));
  EXPECT_EQ(table.gpus(at(4))[0].state, GpuState::ok) << "three seconds are allowed";
  EXPECT_FALSE(table.is_overdue(0, at(4)));
  const auto gpu = table.gpus(at(8))[0];
  EXPECT_TRUE(table.is_overdue(0, at(8)));
  EXPECT_TRUE(table.hangs("GPU-a", at(8)));
  EXPECT_EQ(gpu.state, GpuState::hung);
  EXPECT_EQ(gpu.reason, "the driver has not answered for 7 s");
  EXPECT_EQ(gpu.power, 50);
  EXPECT_EQ(gpu.age(at(8)), Seconds(8));
  EXPECT_EQ(gpu.since, at(8));
  EXPECT_EQ(table.gpus(at(9))[0].since, at(8)) << "the state is a second old";
  table.answered(reading("GPU-a", 1));
  table.idle(0);
  EXPECT_EQ(table.gpus(at(10))[0].state, GpuState::ok);
}

TEST(GpuTable, GpuIsQueriedByOneReaderAtATime) {
  GpuTable table(Seconds(3));
  table.on_query(0, "GPU-a", at(0));
  EXPECT_TRUE(table.may_query(0, "GPU-a"));
  EXPECT_FALSE(table.may_query(1, "GPU-a"));
  EXPECT_TRUE(table.may_query(1, "GPU-b"));
  table.idle(0);
  EXPECT_TRUE(table.may_query(1, "GPU-a"));
}

TEST(GpuTable, DriverHangSparesGpusWithFreshValuesElsewhere) {
  GpuTable table(Seconds(3));
  table.answered(reading("GPU-a", 0));
  table.answered(reading("GPU-b", 0, 1));
  table.on_query(0, "", at(0));
  table.answered(reading("GPU-b", 9, 1));
  const auto gpus = table.gpus(at(10));
  EXPECT_EQ(gpus[0].state, GpuState::hung);
  EXPECT_EQ(gpus[1].state, GpuState::ok);
  EXPECT_THAT(table.notes(at(10)), testing::ElementsAre("the NVIDIA driver has not answered for 10 s"));
}

TEST(GpuTable, AGpuThatIsNoLongerListedIsLostUntilItIsReadAgain) {
  GpuTable table(Seconds(3));
  table.answered(reading("GPU-a", 0));
  table.answered(reading("GPU-b", 0, 1));
  table.finished({.source = "nvml", .uuids = {"GPU-b"}});
  auto gpus = table.gpus(at(1));
  EXPECT_EQ(gpus[1].uuid, "GPU-a");
  EXPECT_EQ(gpus[1].state, GpuState::lost);
  EXPECT_EQ(gpus[1].reason, "the driver no longer lists it");
  EXPECT_EQ(gpus[1].power, std::nullopt);
  EXPECT_EQ(gpus[1].when, std::nullopt);
  table.answered(reading("GPU-a", 2));
  gpus = table.gpus(at(2));
  EXPECT_EQ(gpus[0].state, GpuState::ok);
  EXPECT_EQ(gpus[0].since, at(2));
}

TEST(GpuTable, AFailureWhileTheDriverHangsLosesNothing) {
  GpuTable table(Seconds(3));
  table.answered(reading("GPU-a", 0));
  table.on_query(0, "", at(0));
  table.failed({Fault::device, "NVIDIA's management library does not answer"});
  const auto gpu = table.gpus(at(5))[0];
  EXPECT_EQ(gpu.state, GpuState::hung);
  EXPECT_EQ(gpu.power, 50);
}

TEST(GpuTable, WithoutAnySourceAllGpusAreLost) {
  GpuTable table(Seconds(3));
  table.answered(reading("GPU-a", 0));
  table.finished({.source = "nvml", .uuids = {"GPU-a"}});
  table.failed({Fault::device, "the NVIDIA driver does not answer: Uninitialized (1)", "nvidia-smi should say more"});
  const auto gpu = table.gpus(at(1))[0];
  EXPECT_EQ(gpu.state, GpuState::lost);
  EXPECT_EQ(gpu.reason, "the NVIDIA driver does not answer: Uninitialized (1)");
  EXPECT_EQ(table.source(), "");
}

}  // namespace
}  // namespace tutti
