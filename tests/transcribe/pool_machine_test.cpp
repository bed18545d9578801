#include "transcribe/pool/pool_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using testing::HasSubstr;

namespace {

constexpr std::int64_t kGiB = 1LL << 30;

}  // namespace

TEST(UsedByOthers, IsWhatForeignProcessesAndTheDriverHold) {
  const GpuMemory memory{
      .used = Bytes{9 * kGiB}, .reserved = Bytes{kGiB}, .own = Bytes{5 * kGiB}, .foreign = Bytes{4 * kGiB}};
  EXPECT_EQ(used_by_others(memory, {}), Bytes{5 * kGiB});
}

TEST(UsedByOthers, HiddenProcessesCountUsageBeforeOurWorker) {
  const GpuMemory memory{.used = Bytes{9 * kGiB}};
  EXPECT_EQ(used_by_others(memory, Bytes{2 * kGiB}), Bytes{2 * kGiB});
  EXPECT_FALSE(used_by_others(memory, {}));
}

TEST(DeviceLoadOf, OldOrMissingUtilisationIsNotKnown) {
  const auto now = Clock::real().now();
  GpuSnapshot gpu;
  gpu.state = GpuState::ok;
  gpu.utilisation = {.gpu = 0.7, .foreign = 0.2};
  EXPECT_FALSE(device_load_of(gpu, now).busy) << "never read";
  gpu.when = now - std::chrono::seconds(2);
  EXPECT_EQ(device_load_of(gpu, now).busy, 0.7);
  EXPECT_EQ(device_load_of(gpu, now).foreign, 0.2);
  gpu.when = now - std::chrono::seconds(11);
  EXPECT_FALSE(device_load_of(gpu, now).busy);
  gpu.when = now;
  gpu.utilisation.gpu.reset();
  EXPECT_FALSE(device_load_of(gpu, now).foreign);
}

TEST(DeviceFaultOf, IsAFaultThatOnlyARepairEnds) {
  GpuSnapshot gpu;
  gpu.state = GpuState::ok;
  EXPECT_FALSE(device_fault_of(gpu));
  gpu.errors.recovery_action = "none";
  gpu.errors.xids = {{13, {1, {}}}, {31, {2, {}}}, {94, {1, {}}}};
  EXPECT_FALSE(device_fault_of(gpu)) << "these cost a worker, and it is started again";
  gpu.errors.xids->insert({48, {1, {}}});
  const auto fault = [&] { return device_fault_of(gpu).value_or(DeviceFault{}); };
  EXPECT_EQ(fault().what, "the driver reported Xid 48, after which it needs a reset");
  EXPECT_FALSE(fault().lost);
  gpu.errors.xids->at(48).count = 2;
  EXPECT_THAT(fault().what, HasSubstr("Xid 48 (2 times)")) << "another one is news";
  gpu.errors.xids.reset();
  gpu.errors.recovery_action = "reset the GPU";
  EXPECT_THAT(fault().what, HasSubstr("reset the GPU"));
  EXPECT_FALSE(fault().lost);
  gpu.state = GpuState::lost;
  gpu.reason = "off the bus";
  EXPECT_EQ(fault().what, "off the bus");
  EXPECT_TRUE(fault().lost);
}

TEST(DescribeCores, OwnIsTheWorkersAndForeignTheRestOfItsCore) {
  HostSnapshot host{.busy = 0.6, .core_busy = {0.9, 0.3}, .memory_total = Bytes{8 * kGiB}};
  host.processes = {{.pid = 7, .own = true, .cores = 0.7, .resident = Bytes{kGiB}}, {.pid = 8, .own = true}};
  DeviceStatus one;
  describe_cores(host, 0, 7, one);
  EXPECT_EQ(one.own_load, 0.7);
  EXPECT_NEAR(one.foreign_load.value_or(0), 0.2, 1e-9);
  EXPECT_EQ(one.own_memory, Bytes{kGiB});
  EXPECT_EQ(one.total_memory, Bytes{8 * kGiB});
  DeviceStatus all;
  describe_cores(host, {}, 7, all);
  EXPECT_EQ(all.own_load, 0.35);
  EXPECT_NEAR(all.foreign_load.value_or(0), 0.25, 1e-9);
}

TEST(DescribeCores, UnknownValuesAreAbsent) {
  HostSnapshot host{.core_busy = {0.9, std::nullopt}};
  host.processes = {{.pid = 8, .own = true}};
  DeviceStatus fresh;
  describe_cores(host, 0, 8, fresh);  // its load is a rate, which takes two readings
  EXPECT_FALSE(fresh.own_load || fresh.foreign_load || fresh.own_memory || fresh.total_memory);
  DeviceStatus between;
  describe_cores(host, 0, {}, between);
  EXPECT_FALSE(between.own_load) << "no worker is there";
  EXPECT_EQ(between.foreign_load, 0.9);
  DeviceStatus off;
  describe_cores(host, 1, {}, off);
  EXPECT_FALSE(off.foreign_load);
  DeviceStatus beyond;
  describe_cores(host, 64, 9, beyond);
  EXPECT_FALSE(beyond.own_load || beyond.foreign_load);
}

TEST(EnergyMeter, KeepsEnergyOfALostDeviceAndContinuesOnReturn) {
  EnergyMeter meter;
  meter.reads(5000);
  EXPECT_EQ(meter.drawn(), 0) << "before the batch";
  meter.reads(5200);
  meter.reads(5300);
  EXPECT_EQ(meter.drawn(), 300);
  meter.reads(10);  // the driver was loaded again
  meter.reads(60);
  EXPECT_EQ(meter.drawn(), 350);
}

TEST(MemoryShortage, BeginsBelowATwentiethAndEndsHalfAsMuchAbove) {
  const auto left = [](std::int64_t bytes) { return MemoryFacts{.total = {40 * kGiB}, .available = {bytes}}; };
  EXPECT_FALSE(memory_shortage(left(2 * kGiB), false));
  const auto why = memory_shortage(left(2 * kGiB - 1), false);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("2.1 GB of this machine's 42.9 GB of memory are left"));
  EXPECT_TRUE(memory_shortage(left(3 * kGiB - 1), true)) << "not in and out again at every look";
  EXPECT_FALSE(memory_shortage(left(3 * kGiB), true));
}

TEST(MemoryShortage, OnASmallMachineBeginsBelowHalfAGibibyte) {
  EXPECT_TRUE(memory_shortage({.total = {2 * kGiB}, .available = {kGiB / 2 - 1}}, false));
  EXPECT_FALSE(memory_shortage({.total = {2 * kGiB}, .available = {kGiB / 2}}, false));
}

namespace {

DeviceStatus status_of(const ResolvedDevice& device, const PooledDeviceView& view) {
  return device_status(view, {.id = view.id, .label = view.id, .device = device}, Seconds(60));
}

}  // namespace

TEST(PoolStatus, EmulatedDeviceMemoryIsWhatThePoolReserved) {
  ResolvedDevice card{.kind = ResolvedDevice::Kind::emulated, .name = "card"};
  card.card.memory = Bytes{12'000'000'000};
  const auto status = status_of(card, {.id = "card", .reserved = Bytes{2'500'000'000}});
  EXPECT_EQ(status.own_memory, Bytes{2'500'000'000});
  EXPECT_EQ(status.total_memory, Bytes{12'000'000'000});
}

TEST(PoolStatus, ASpeedThatWasOnlyGuessedIsNotExpected) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  EXPECT_FALSE(status_of(cpu, {.id = "cpu", .speed = 2}).usual_speed);
  EXPECT_EQ(status_of(cpu, {.id = "cpu", .speed = 3, .speed_known = true}).usual_speed, 3);
  EXPECT_FALSE(status_of(cpu, {.id = "cpu", .speed = 3, .speed_known = true}).speed) << "it has done nothing yet";
}

TEST(PoolStatus, SpeedIsHiddenUntilMoreIsDoneThanInFlight) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  PooledDeviceView view{.id = "cpu", .windows = 4, .speed = 3, .audio_done = Seconds(60), .busy = Seconds(60)};
  EXPECT_EQ(status_of(cpu, view).speed, 1) << "better than nothing";
  view.speed_known = true;
  EXPECT_FALSE(status_of(cpu, view).speed);
  EXPECT_EQ(status_of(cpu, view).usual_speed, 3);
  view.audio_done = Seconds(240);
  EXPECT_EQ(status_of(cpu, view).speed, 4);
  view.audio_done = Seconds(60);
  view.windows = 0;
  EXPECT_EQ(status_of(cpu, view).speed, 1) << "nothing is in flight";
}

TEST(PoolStatus, OutOfMemoryStatusNamesTheWindowLimit) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  PooledDeviceView view{.id = "cpu", .memory_loss = MemoryLoss{.times = 1, .all = 10, .least = 5, .now = 6}};
  EXPECT_EQ(status_of(cpu, view).memory_limit, "has run out of memory: at most 6 of 10 windows at once for now");
  view.memory_loss->now.reset();
  EXPECT_EQ(status_of(cpu, view).memory_limit, "");
}
