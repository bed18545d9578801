#include "doctor/machine_view.h"

#include <gmock/gmock.h>

using namespace tutti;
using testing::HasSubstr;

namespace {

MachineSnapshot machine(Clock::Instant now) {
  GpuSnapshot gpu{.uuid = "GPU-1a2b"};
  gpu.cuda_order = 0;
  gpu.name = "NVIDIA RTX";
  gpu.since = now - std::chrono::seconds(100);
  gpu.when = now - std::chrono::seconds(1);
  gpu.utilisation.gpu = 0.8;
  gpu.utilisation.own = 0.5;
  gpu.utilisation.foreign = 0.3;
  gpu.memory.total = Bytes{8'000'000'000};
  gpu.memory.own = Bytes{2'000'000'000};
  gpu.throttled_by = std::vector<ThrottleReason>{{"sw_power_cap", "power limit reached"}};
  gpu.processes =
      std::vector<GpuProcess>{{.pid = 42, .own = true, .name = "tutti-engine", .memory = Bytes{2'000'000'000}}};
  GpuSnapshot lost{.uuid = "GPU-dead", .state = GpuState::lost, .reason = "it has fallen off the bus"};
  lost.since = now - std::chrono::seconds(12);
  MachineSnapshot snapshot{.number = 2, .when = now, .driver = "550.1"};
  snapshot.gpus = {gpu, lost};
  snapshot.host.processes = {{.pid = 42, .name = "tutti-engine", .own = true, .cores = 1.5}};
  return snapshot;
}

}  // namespace

TEST(MachineView, StatesAreWordsAndValuesAreSplitByOwner) {
  const auto now = Clock::real().now();
  const TopData data = machine_view(machine(now), now);
  ASSERT_EQ(data.devices.size(), 2U);
  EXPECT_EQ(data.devices[0].id, "cuda:0");
  EXPECT_EQ(data.devices[0].state, "throttled");
  EXPECT_EQ(data.devices[0].reason, "power limit reached");
  EXPECT_EQ(data.devices[0].foreign_load, 0.3);
  EXPECT_EQ(data.devices[0].data_age, Seconds(1));
  EXPECT_EQ(data.devices[1].id, "GPU-dead");
  EXPECT_EQ(data.devices[1].state, "lost");
  EXPECT_EQ(data.devices[1].since, Seconds(12));
  EXPECT_FALSE(data.devices[1].own_load) << "absent, not 0";
  EXPECT_THAT(data.title, HasSubstr("550.1"));
}

TEST(MachineView, DisksShowFreeSpaceAndTraffic) {
  const auto now = Clock::real().now();
  MachineSnapshot snapshot = machine(now);
  snapshot.host.disks = {{.path = "/", .total = Bytes{100}, .free = Bytes{40}, .read = 12e6}};
  const TopData data = machine_view(snapshot, now);
  ASSERT_EQ(data.host.disks.size(), 1U);
  EXPECT_EQ(data.host.disks[0].free, Bytes{40});
  EXPECT_EQ(data.host.disks[0].read, 12e6);
  EXPECT_FALSE(data.host.disks[0].written) << "absent, not 0";
}

TEST(MachineView, AProcessOnAGpuIsOneRow) {
  const auto now = Clock::real().now();
  const TopData data = machine_view(machine(now), now);
  ASSERT_EQ(data.processes.size(), 1U);
  EXPECT_EQ(data.processes[0].device, "cuda:0");
  EXPECT_EQ(data.processes[0].cores, 1.5);
  EXPECT_EQ(data.processes[0].device_memory, Bytes{2'000'000'000});
}

TEST(MachineView, OwnAndForeignLoadAreLeftToTheRun) {
  const auto now = Clock::real().now();
  TopData run;
  run.devices = {{.id = "cuda:0", .uuid = "GPU-1a2b"}, {.id = "cpu:0"}};
  run.devices[0].own_load = 0.8;
  add_telemetry(run, machine(now), now);
  EXPECT_EQ(run.devices[0].own_load, 0.8);
  EXPECT_FALSE(run.devices[0].foreign_load);
  EXPECT_EQ(run.devices[0].total_memory, Bytes{8'000'000'000});
  EXPECT_FALSE(run.devices[1].total_memory);
}
