#include "device/telemetry/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "device/driver_under_test.h"
#include "support/eventually.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// Fast enough for a test, with time limits that a busy machine does not exceed for good.
SamplerOptions fast() {
  return {
      .period = Seconds(0.001), .pcie_period = Seconds(0.001), .patience = Seconds(0.05), .farewell = Seconds(0.05)};
}

bool is(const MachineSnapshot& all, const char* uuid, GpuState state) {
  const GpuSnapshot* gpu = all.gpu(uuid);
  return gpu && gpu->state == state;
}

TEST(Sampler, PublishesSnapshotsThatCountUp) {
  const ScriptedMachine machine(kTwoCards);
  const Sampler sampler(fast());
  ASSERT_NE(sampler.latest(), nullptr);
  eventually([&] { return is(*sampler.latest(), "GPU-b", GpuState::ok); });
  const auto one = sampler.latest();
  eventually([&] { return sampler.latest()->number > one->number + 3; });
  EXPECT_EQ(one->source, "nvml");
  EXPECT_EQ(one->gpu("GPU-a")->cuda_order, 0);
  EXPECT_TRUE(one->host.memory_total);
  eventually([&] { return sampler.latest()->gpu("GPU-a")->pcie.sent.has_value(); });
}

TEST(Sampler, SettledHasGpusAndRates) {
  const ScriptedMachine machine(kTwoCards);
  const Sampler sampler(fast());
  const auto all = sampler.settled(Seconds(60));
  EXPECT_GE(all->number, 3u);
  EXPECT_TRUE(all->host.disks.empty()) << "none was asked for";
  EXPECT_EQ(all->gpus.size(), 2u);
}

TEST(Sampler, WithoutADriverThereIsANoteAndTheMachineAroundIt) {
  const ScriptedMachine machine("", nullptr, "/nonexistent/libnvidia-ml.so.1");
  const Sampler sampler(fast());
  const auto all = sampler.settled(Seconds(60));
  EXPECT_TRUE(all->gpus.empty());
  EXPECT_EQ(all->source, "");
  ASSERT_EQ(all->notes.size(), 1u);
  EXPECT_THAT(all->notes[0], HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_FALSE(all->host.processes.empty()) << "ourselves";
}

// Calls that a reader makes about one GPU when it already has the list.
TEST(Sampler, AHangInAnyCallAboutACardLeavesTheOthersFresh) {
  for (const char* call :
       {"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTemperature",
        "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo",
        "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetFieldValues",
        "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
        "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3",
        "nvmlDeviceGetProcessUtilization"}) {
    SCOPED_TRACE(call);
    const ScriptedMachine machine(kTwoCards + "hang gpu=GPU-b call=" + call + "\n");
    const Sampler sampler(fast());
    eventually([&] { return sampler.latest()->gpu("GPU-a") != nullptr; });
    const auto before = sampler.latest()->when;
    // The GPU that hangs was never read, so it is not in the table; the other one goes on.
    eventually([&] {
      const auto all = sampler.latest();
      return is(*all, "GPU-a", GpuState::ok) && *all->gpu("GPU-a")->when > before;
    });
    machine.now(kTwoCards);
    eventually([&] { return is(*sampler.latest(), "GPU-b", GpuState::ok); });
  }
}

TEST(Sampler, ACardThatHangsShowsItsAgeAndComesBack) {
  const ScriptedMachine machine(kTwoCards);
  const Sampler sampler(fast());
  eventually([&] { return is(*sampler.latest(), "GPU-a", GpuState::ok); });
  machine.now(kTwoCards + "hang gpu=GPU-a call=nvmlDeviceGetTemperature\n");
  eventually([&] { return is(*sampler.latest(), "GPU-a", GpuState::hung); });
  const auto all = sampler.latest();
  const GpuSnapshot& gpu = *all->gpu("GPU-a");
  EXPECT_THAT(gpu.reason, HasSubstr("the driver has not answered for "));
  EXPECT_EQ(gpu.temperatures.gpu, 61) << "the last values, and how old they are";
  EXPECT_GT(gpu.age(all->when)->count(), 0.05);
  machine.now(kTwoCards);
  eventually([&] { return is(*sampler.latest(), "GPU-a", GpuState::ok); });
}

TEST(Sampler, AHangOfTheWholeDriverIsANoteUntilItEnds) {
  for (const char* call :
       {"nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID",
        "nvmlDeviceGetName", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetCudaComputeCapability",
        "nvmlDeviceGetMigMode", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"}) {
    SCOPED_TRACE(call);
    const ScriptedMachine machine(kTwoCards + "hang call=" + call + "\n");
    const Sampler sampler(fast());
    eventually([&] { return sampler.latest()->driver_hangs && !sampler.latest()->notes.empty(); });
    machine.now(kTwoCards);
    eventually([&] { return !sampler.latest()->driver_hangs; });
  }
}

TEST(Sampler, WhenTheDriverHangsAsAWholeTheCardsKeepTheirLastValuesAndAge) {
  const ScriptedMachine machine(kTwoCards);
  const Sampler sampler(fast());
  eventually([&] {  // both: a GPU that was never read is not in the table
    const auto all = sampler.latest();
    return is(*all, "GPU-a", GpuState::ok) && is(*all, "GPU-b", GpuState::ok);
  });
  machine.now(kTwoCards + "hang call=*\n");
  eventually([&] {
    const auto all = sampler.latest();
    return is(*all, "GPU-a", GpuState::hung) && is(*all, "GPU-b", GpuState::hung);
  });
  const auto all = sampler.latest();
  EXPECT_EQ(all->gpu("GPU-a")->temperatures.gpu, 61);
  EXPECT_GT(all->gpu("GPU-a")->age(all->when)->count(), 0.05);
  machine.now(kTwoCards);
  eventually([&] { return is(*sampler.latest(), "GPU-a", GpuState::ok); });
}

TEST(Sampler, AHangOfWhatTheCardsDoNotNeedCostsThemNothing) {
  const ScriptedMachine machine(kTwoCards + "hang call=nvmlEventSetWait_v2\n");
  const Sampler sampler(fast());
  eventually([&] { return is(*sampler.latest(), "GPU-b", GpuState::ok); });
  machine.now(kTwoCards);
  const auto before = sampler.latest()->number;
  eventually([&] { return sampler.latest()->number > before; });
}

TEST(Sampler, GoingAwayDoesNotWaitForADriverThatHangs) {
  const ScriptedMachine machine(kTwoCards + "hang call=nvmlDeviceGetPowerUsage\n");
  const Clock& clock = Clock::real();
  Clock::Instant before;
  {
    const Sampler sampler(fast());
    eventually([&] { return sampler.latest()->number > 0; });
    before = clock.now();
  }
  EXPECT_LT(Seconds(clock.now() - before).count(), 5.0);
}

TEST(Sampler, UsageOfOurProcessesIsOwn) {
  const ScriptedMachine machine(kTwoCards + "process gpu=GPU-a pid=" + std::to_string(::getpid()) +
                                " memory=2000000000 util=10\n");
  const Sampler sampler(fast());
  eventually([&] {
    const auto gpu = sampler.latest()->gpu("GPU-a");
    return gpu && gpu->memory.own;
  });
  const auto all = sampler.latest();
  const GpuSnapshot& gpu = *all->gpu("GPU-a");
  EXPECT_EQ(gpu.memory.own, Bytes{2'000'000'000});
  EXPECT_EQ(gpu.memory.foreign, Bytes{4'000'000'000});
  EXPECT_NEAR(*gpu.utilisation.own, 0.1, 1e-9);
  EXPECT_NEAR(*gpu.utilisation.foreign, 0.2, 1e-9);
}

}  // namespace
}  // namespace tutti
