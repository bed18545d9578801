#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "device/driver_under_test.h"
#include "device/emulated_load.h"

namespace tutti {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Every call that a reading makes about one GPU.
constexpr const char* kCardCalls[] = {
    "nvmlDeviceGetName",
    "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetCudaComputeCapability",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetTotalEnergyConsumption",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetTemperatureThreshold",
    "nvmlDeviceGetClockInfo",
    "nvmlDeviceGetMaxClockInfo",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetTotalEccErrors",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetCurrPcieLinkGeneration",
    "nvmlDeviceGetCurrPcieLinkWidth",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetProcessUtilization",
    "nvmlDeviceRegisterEvents",
};

/// All codes of nvml.h.
std::vector<int> error_codes() {
  std::vector<int> codes{999};
  for (int code = 1; code <= 30; ++code) codes.push_back(code);
  return codes;
}

bool means_loss(int code) {
  return code == 15 || code == 16 || code == 28;
}

TEST(NvmlSource, SnapshotHasAllDriverValues) {
  DriverUnderTest driver(kTwoCards);
  const auto all = driver.read();
  EXPECT_EQ(all.source, "nvml");
  EXPECT_EQ(all.driver, "580.65.06");
  ASSERT_EQ(all.gpus.size(), 2u);
  const GpuSnapshot& gpu = *all.gpu("GPU-a");
  EXPECT_EQ(gpu.state, GpuState::ok);
  EXPECT_EQ(gpu.index, 0);
  EXPECT_EQ(gpu.name, "NVIDIA L4");
  EXPECT_EQ(gpu.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(gpu.memory.total, Bytes{24000000000});
  EXPECT_EQ(gpu.memory.reserved, Bytes{500000000});
  EXPECT_EQ(gpu.memory.used, Bytes{4000000000}) << "the driver's own part and the process's";
  EXPECT_EQ(gpu.memory.free, Bytes{19500000000});
  EXPECT_DOUBLE_EQ(*gpu.utilisation.gpu, 0.30);
  EXPECT_DOUBLE_EQ(*gpu.utilisation.memory, 0.07);
}

TEST(NvmlSource, SensorsAndTheirLimitsAreInTheSnapshot) {
  const auto all = DriverUnderTest(kTwoCards).read();
  const GpuSnapshot& gpu = *all.gpu("GPU-a");
  EXPECT_DOUBLE_EQ(*gpu.power, 71.5);
  EXPECT_DOUBLE_EQ(*gpu.power_limit, 72);
  EXPECT_DOUBLE_EQ(*gpu.energy, 1234.5);
  EXPECT_DOUBLE_EQ(*gpu.temperatures.gpu, 61);
  EXPECT_DOUBLE_EQ(*gpu.temperatures.memory, 70);
  EXPECT_DOUBLE_EQ(*gpu.temperatures.slowdown_limit, 88);
  EXPECT_DOUBLE_EQ(*gpu.temperatures.shutdown_limit, 95);
  EXPECT_DOUBLE_EQ(*gpu.clocks.graphics, 1.8e9);
  EXPECT_DOUBLE_EQ(*gpu.clocks.sm, 1.79e9);
  EXPECT_DOUBLE_EQ(*gpu.clocks.memory, 6.251e9);
  EXPECT_DOUBLE_EQ(*gpu.clocks.graphics_max, 2.04e9);
  ASSERT_EQ(gpu.throttled_by->size(), 1u);
  EXPECT_EQ(gpu.throttled_by->front().words, "power limit reached");
  EXPECT_THAT(*all.gpu("GPU-b")->throttled_by, IsEmpty());
}

TEST(NvmlSource, ErrorsLinksAndProcessesAreInTheSnapshot) {
  const auto all = DriverUnderTest(kTwoCards).read();
  const GpuSnapshot& gpu = *all.gpu("GPU-a");
  EXPECT_EQ(gpu.errors.ecc_corrected, 3u);
  EXPECT_EQ(gpu.errors.ecc_uncorrected, 0u);
  EXPECT_EQ(gpu.errors.recovery_action, "none");
  EXPECT_TRUE(gpu.errors.xids && gpu.errors.xids->empty());
  EXPECT_EQ(gpu.pcie.generation, 4);
  EXPECT_EQ(gpu.pcie.width, 16);
  EXPECT_EQ(gpu.mig, false);
  ASSERT_EQ(gpu.processes->size(), 1u);
  EXPECT_EQ(gpu.processes->front().pid, 1);
  EXPECT_EQ(gpu.processes->front().memory, Bytes{3000000000});
  EXPECT_DOUBLE_EQ(*gpu.processes->front().utilisation, 0.2);
  EXPECT_EQ(all.gpu("GPU-b")->errors.recovery_action, "reset the GPU");
}

TEST(NvmlSource, UnsupportedValuesAreAbsent) {
  DriverUnderTest driver("gpu uuid=GPU-a no_util no_events\n");
  const auto all = driver.read();
  EXPECT_EQ(all.gpu("GPU-a")->state, GpuState::ok);
  EXPECT_EQ(all.gpu("GPU-a")->errors.xids, std::nullopt);
  EXPECT_THAT(series_of(all, "GPU-a"),
              ElementsAre("tutti_gpu_age_seconds{gpu_uuid=\"GPU-a\"} 0", "tutti_gpu_index{gpu_uuid=\"GPU-a\"} 0",
                          "tutti_gpu_info{gpu_uuid=\"GPU-a\",name=\"\",pci_bus_id=\"\"} 1",
                          "tutti_gpu_state{gpu_uuid=\"GPU-a\",state=\"hung\"} 0",
                          "tutti_gpu_state{gpu_uuid=\"GPU-a\",state=\"lost\"} 0",
                          "tutti_gpu_state{gpu_uuid=\"GPU-a\",state=\"ok\"} 1"));
}

TEST(NvmlSource, ABlankIsNoNumber) {
  DriverUnderTest driver(
      "gpu uuid=GPU-a temp=4294967295 clock=2147483632 ecc_corrected=9223372036854775794 mem_temp=2147483647 "
      "energy=1\n"
      "process gpu=GPU-a pid=1000001 memory=18446744073709551615 util=4294967295\n");
  const auto all = driver.read();
  const GpuSnapshot& gpu = *all.gpu("GPU-a");
  EXPECT_EQ(gpu.temperatures.gpu, std::nullopt);
  EXPECT_EQ(gpu.temperatures.memory, std::nullopt);
  EXPECT_EQ(gpu.clocks.graphics, std::nullopt);
  EXPECT_EQ(gpu.errors.ecc_corrected, std::nullopt);
  EXPECT_EQ(gpu.processes->at(0).memory, std::nullopt);
  EXPECT_EQ(gpu.energy, 1.0);
}

/// Calls made only while the list is built; the values then show that the GPU works.
bool is_called_only_for_the_list(std::string_view call) {
  return call == "nvmlDeviceGetName" || call == "nvmlDeviceGetPciInfo_v3" || call == "nvmlDeviceGetMemoryInfo" ||
         call == "nvmlDeviceGetCudaComputeCapability" || call == "nvmlDeviceRegisterEvents";
}

void expect_nothing_made_up(const std::vector<std::string>& series, const std::vector<std::string>& healthy) {
  for (const auto& line : series) {
    // The older call for memory, which answers where the newer fails, counts what the driver reserves as used.
    if (line.starts_with("tutti_gpu_memory_used") || line.starts_with("tutti_gpu_info")) continue;
    EXPECT_NE(std::find(healthy.begin(), healthy.end(), line), healthy.end()) << line << " is made up";
  }
}

/// GPU-b when one of its calls fails, other than the one for its name.
void expect_one_value_lost(const MachineSnapshot& all, const char* call, int code,
                           const std::vector<std::string>& healthy) {
  const GpuSnapshot* gpu = all.gpu("GPU-b");
  ASSERT_NE(gpu, nullptr);
  if (means_loss(code) && !is_called_only_for_the_list(call)) {
    EXPECT_EQ(gpu->state, GpuState::lost);
    EXPECT_THAT(gpu->reason, HasSubstr("(" + std::to_string(code) + ")"));
    EXPECT_EQ(gpu->utilisation.gpu, std::nullopt) << "a lost card is not idle";
  } else {
    EXPECT_EQ(gpu->state, GpuState::ok);
    expect_nothing_made_up(series_of(all, "GPU-b"), healthy);
  }
}

TEST(NvmlSource, EachErrorOfEachCallCostsThatValueOfThatCardOnly) {
  const auto healthy = DriverUnderTest(kTwoCards).read();  // one at a time: the library is the same
  ASSERT_GT(series_of(healthy, "GPU-b").size(), 25u);
  for (const char* call : kCardCalls)
    for (const int code : error_codes()) {
      SCOPED_TRACE(std::string(call) + " " + std::to_string(code));
      DriverUnderTest driver(kTwoCards + "error gpu=GPU-b call=" + call + " code=" + std::to_string(code) + "\n");
      const auto all = driver.read();
      EXPECT_EQ(series_of(all, "GPU-a"), series_of(healthy, "GPU-a"));
      expect_one_value_lost(all, call, code, series_of(healthy, "GPU-b"));
    }
}

TEST(NvmlSource, GpuWithoutUuidIsNamedByBusIdOrMissing) {
  for (const int code : error_codes()) {
    SCOPED_TRACE(code);
    DriverUnderTest driver(kTwoCards + "error gpu=GPU-b call=nvmlDeviceGetUUID code=" + std::to_string(code) + "\n");
    const auto all = driver.read();
    EXPECT_EQ(all.gpu("GPU-a")->state, GpuState::ok);
    if (means_loss(code))
      EXPECT_THAT(all.notes, Contains(HasSubstr("GPU 1 does not answer")));
    else
      EXPECT_EQ(all.gpu("0000:02:00.0")->state, GpuState::ok);
  }
}

TEST(NvmlSource, EachErrorOfTheDriverAsAWholeIsANoteAndEndsWhenItEnds) {
  for (const char* call : {"nvmlInit_v2", "nvmlDeviceGetCount_v2"})
    for (const int code : error_codes()) {
      SCOPED_TRACE(std::string(call) + " " + std::to_string(code));
      DriverUnderTest driver(kTwoCards + "error call=" + call + " code=" + std::to_string(code) + "\n");
      auto all = driver.read();
      EXPECT_TRUE(all.gpus.empty());
      EXPECT_EQ(all.source, "");
      ASSERT_EQ(all.notes.size(), 1u);
      EXPECT_THAT(all.notes[0], HasSubstr("(" + std::to_string(code) + ")"));
      driver.now(kTwoCards);
      driver.advance(Seconds(10));
      all = driver.read();
      EXPECT_EQ(all.gpus.size(), 2u);
      EXPECT_THAT(all.notes, IsEmpty());
    }
}

TEST(NvmlSource, ACardThatAnswersNothingAtAllIsLost) {
  DriverUnderTest driver(kTwoCards);
  driver.read();
  driver.now(kTwoCards + "error gpu=GPU-b call=* code=999\n");
  driver.advance(Seconds(1));
  const auto all = driver.read();
  EXPECT_EQ(all.gpu("GPU-a")->state, GpuState::ok);
  EXPECT_EQ(all.gpu("GPU-b")->state, GpuState::lost);
  EXPECT_EQ(all.gpu("GPU-b")->reason, "the driver reports: Unknown Error (999)");
}

TEST(NvmlSource, ACardFallsOffTheBusAndComesBackUnderAnotherIndex) {
  const auto line_end = kTwoCards.find("gpu uuid=GPU-b");
  const auto b_end = kTwoCards.find("process");
  const std::string driver_line = "driver 580.65.06\n",
                    a = kTwoCards.substr(driver_line.size(), line_end - driver_line.size()),
                    b = kTwoCards.substr(line_end, b_end - line_end);
  DriverUnderTest driver(driver_line + a + b);
  EXPECT_EQ(driver.read().gpu("GPU-a")->index, 0);

  driver.now(driver_line + b);
  driver.advance(Seconds(1));
  auto all = driver.read();
  const GpuSnapshot* gone = all.gpu("GPU-a");
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(gone->state, GpuState::lost) << "in the first second";
  EXPECT_EQ(gone->reason, "the driver reports: GPU is lost (15)");
  EXPECT_EQ(gone->index, std::nullopt);
  EXPECT_EQ(gone->name, "NVIDIA L4");
  EXPECT_EQ(gone->memory.total, Bytes{24000000000});
  EXPECT_EQ(gone->memory.used, std::nullopt);
  EXPECT_EQ(gone->since, all.when);
  EXPECT_EQ(all.gpu("GPU-b")->state, GpuState::ok);
  EXPECT_EQ(all.gpus.back().uuid, "GPU-a") << "lost ones come last";

  // Another slot: behind the other GPU now.
  std::string moved = a;
  moved.replace(moved.find("0000:01"), 7, "0000:07");
  driver.now(driver_line + b + moved);
  for (int second = 0; second < 11; ++second) {
    driver.advance(Seconds(1));
    all = driver.read();
  }
  EXPECT_EQ(all.gpu("GPU-a")->state, GpuState::ok);
  EXPECT_EQ(all.gpu("GPU-a")->index, 1);
  EXPECT_EQ(all.gpu("GPU-a")->pci_bus_id, "0000:07:00.0");
  EXPECT_EQ(all.gpu("GPU-b")->index, 0);
  EXPECT_EQ(all.gpus[0].uuid, "GPU-b");
}

TEST(NvmlSource, AReaderThatTakesOverKnowsWhichCardIsMissing) {
  const auto end = kTwoCards.find("process");
  DriverUnderTest driver(kTwoCards.substr(0, end));
  driver.read();
  driver.now(kTwoCards.substr(0, kTwoCards.find("gpu uuid=GPU-b")));
  driver.advance(Seconds(10));
  EXPECT_EQ(driver.read().gpu("GPU-b")->state, GpuState::lost);
  driver.advance(Seconds(10));
  driver.read();  // the list is made without it
  driver.replace_reader();
  driver.now(kTwoCards.substr(0, end));
  for (int second = 0; second < 11; ++second) {
    driver.advance(Seconds(1));
    driver.read();
  }
  EXPECT_EQ(driver.look().gpu("GPU-b")->state, GpuState::ok);
}

TEST(NvmlSource, ThreeDriverGenerationsListTheSameProcesses) {
  const std::string processes =
      "process gpu=GPU-a pid=1000003 memory=5 util=1\n"
      "process gpu=GPU-a pid=1000003 memory=5 draws util=1\n"
      "process gpu=GPU-a pid=1000004 memory=6 draws util=2\n";
  for (const auto& [library, abi] :
       {std::pair{TUTTI_FAKE_NVML_LIBRARY_V1, ""}, std::pair{TUTTI_FAKE_NVML_LIBRARY_V2, ""},
        std::pair{TUTTI_FAKE_NVML_LIBRARY, ""}, std::pair{TUTTI_FAKE_NVML_LIBRARY, "abi 535\n"}}) {
    SCOPED_TRACE(std::string(library) + abi);
    DriverUnderTest driver(kTwoCards + processes + abi, library);
    const auto all = driver.read();
    const auto found = all.gpu("GPU-a")->processes;
    ASSERT_TRUE(found);
    std::vector<std::pair<int, std::int64_t>> entries;
    for (const auto& process : *found) entries.emplace_back(process.pid, process.memory->value);
    EXPECT_THAT(entries, ElementsAre(std::pair(1, 3000000000), std::pair(1000003, 5), std::pair(1000004, 6)));
    // Only the newest driver reports its own share of memory; the free memory is the same for all.
    EXPECT_EQ(all.gpu("GPU-a")->memory.free, Bytes{19499999984});
    EXPECT_EQ(all.gpu("GPU-a")->memory.reserved.has_value(), std::string_view(library) == TUTTI_FAKE_NVML_LIBRARY);
    EXPECT_EQ(all.gpu("GPU-a")->throttled_by->size(), 1u) << "by the call's older name";
  }
}

TEST(NvmlSource, FirstReadingUsesFreshSamplesOnly) {
  DriverUnderTest driver("gpu uuid=GPU-a total=80000000000 old_samples\nprocess gpu=GPU-a pid=1 memory=1 util=20\n");
  EXPECT_DOUBLE_EQ(*driver.read().gpus.at(0).processes->at(0).utilisation, 0.2);
}

TEST(NvmlSource, ManyProcessesAreAllListed) {
  std::string script = kTwoCards;
  for (int pid = 2000000; pid < 2001000; ++pid)
    script += "process gpu=GPU-a pid=" + std::to_string(pid) + " memory=1 util=0\n";
  DriverUnderTest driver(script);
  EXPECT_EQ(driver.read().gpu("GPU-a")->processes->size(), 1001u);
}

TEST(NvmlSource, XidsAreCountedByTheirNumber) {
  DriverUnderTest driver(kTwoCards);
  driver.read();
  driver.now(kTwoCards + "xid gpu=GPU-b code=79\nxid gpu=GPU-b code=31\n");
  driver.advance(Seconds(1));
  driver.read();
  driver.now(kTwoCards + "xid gpu=GPU-b code=79\nxid gpu=GPU-b code=31\nxid gpu=GPU-b code=31\n");
  driver.advance(Seconds(1));
  const auto all = driver.read();
  const auto xids = all.gpu("GPU-b")->errors.xids;
  ASSERT_TRUE(xids);
  EXPECT_EQ(xids->at(79).count, 1u);
  EXPECT_EQ(xids->at(31).count, 2u);
  EXPECT_GT(xids->at(31).last.time_since_epoch().count(), 0);
  EXPECT_THAT(*all.gpu("GPU-a")->errors.xids, IsEmpty());
}

TEST(NvmlSource, FullUtilisationWithoutProcessIsDoubted) {
  const std::string idle = "gpu uuid=GPU-a total=80000000000 reserved=1 used=0 util=100 power=60\n";
  DriverUnderTest driver(idle);
  GpuSnapshot gpu;
  for (int second = 0; second < 5; ++second) {
    gpu = driver.read().gpus.at(0);
    driver.advance(Seconds(1));
  }
  EXPECT_EQ(gpu.utilisation.gpu, std::nullopt);
  EXPECT_EQ(gpu.utilisation.doubt, "reports 100 % with no process and no memory in use");
  driver.now(idle + "process gpu=GPU-a pid=1000001 memory=3000000000 util=100\n");
  EXPECT_EQ(driver.read().gpus.at(0).utilisation.gpu, 1.0) << "a process is there now";
}

TEST(NvmlSource, OneToSixteenGpusKeepTheirOwnValues) {
  for (int count = 1; count <= 16; ++count) {
    std::string script;
    for (int i = count; i-- > 0;)  // not in PCI order
      script += "gpu uuid=GPU-" + std::to_string(i) + " bus=0000:" + std::to_string(10 + i) +
                ":00.0 total=" + std::to_string((i + 8) * 1000000000LL) + " temp=" + std::to_string(30 + i) + "\n";
    DriverUnderTest driver(script);
    const auto all = driver.read();
    ASSERT_EQ(all.gpus.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const auto& gpu = all.gpus[static_cast<std::size_t>(i)];
      EXPECT_EQ(gpu.uuid, "GPU-" + std::to_string(i));
      EXPECT_EQ(gpu.index, i);
      EXPECT_EQ(gpu.temperatures.gpu, 30 + i);
    }
  }
}

TEST(NvmlSource, SlicesOfACardAreListedWithTheirMemory) {
  DriverUnderTest driver(
      "gpu uuid=GPU-a total=40000000000 mig=1\n"
      "mig gpu=GPU-a uuid=MIG-1 total=20000000000 used=7 gi=1 ci=0 name=MIG 3g.20gb\n"
      "mig gpu=GPU-a uuid=MIG-2 total=5000000000 used=8 gi=9 ci=0\n");
  const auto gpu = driver.read().gpus.at(0);
  EXPECT_EQ(gpu.mig, true);
  EXPECT_EQ(gpu.utilisation.gpu, std::nullopt) << "the driver cannot say in this mode";
  ASSERT_EQ(gpu.mig_devices.size(), 2u);
  EXPECT_EQ(gpu.mig_devices[0].name, "MIG 3g.20gb");
  EXPECT_EQ(gpu.mig_devices[1].gpu_instance, 9);
  EXPECT_EQ(gpu.mig_devices[1].memory_used, Bytes{8});
  const auto all = driver.read();
  ASSERT_NE(all.gpu("MIG-2"), nullptr);
  EXPECT_EQ(all.gpu("MIG-2")->uuid, "GPU-a");
  EXPECT_EQ(all.gpu("MIG-3"), nullptr);
}

TEST(NvmlSource, PcieThroughputIsMeasuredApartAndForgottenWhenOld) {
  DriverUnderTest driver(kTwoCards);
  driver.read();
  EXPECT_EQ(driver.look().gpu("GPU-a")->pcie.sent, std::nullopt);
  driver.measure_pcie();
  EXPECT_EQ(driver.look().gpu("GPU-a")->pcie.sent, 2000 * 1024.0);
  EXPECT_EQ(driver.look().gpu("GPU-b")->pcie.received, 8 * 1024.0);
  driver.advance(Seconds(31));
  EXPECT_EQ(driver.read().gpu("GPU-a")->pcie.sent, std::nullopt);
}

TEST(NvmlSource, ALibraryThatLacksNearlyEveryFunctionStillHasItsCard) {
  DriverUnderTest driver("", TUTTI_BARE_NVML_LIBRARY);
  const auto all = driver.read();
  ASSERT_EQ(all.gpus.size(), 1u);
  EXPECT_EQ(all.gpus[0].uuid, "GPU 0");
  EXPECT_EQ(all.gpus[0].state, GpuState::ok);
  EXPECT_EQ(all.gpus[0].memory.total, std::nullopt);
}

TEST(NvmlSource, ProgramsThatSayTheyUseACardAreSeenOnItWhileTheyLive) {
  DriverUnderTest driver(kTwoCards);
  auto worker = EmulatedLoad::on("GPU-b");
  ASSERT_NE(worker, nullptr);
  ASSERT_TRUE(worker->set(Bytes{12000000000}, 0.4));
  const auto loads = std::filesystem::path(std::string(std::getenv("TUTTI_FAKE_NVML")) + ".loads");
  ASSERT_TRUE(write_file_atomically(loads / "killed", "load gpu=GPU-b pid=999999999 memory=1 util=1\n"));
  const auto gpu = *driver.read().gpu("GPU-b");
  ASSERT_EQ(gpu.processes->size(), 2u);
  EXPECT_EQ(gpu.processes->at(1).pid, ::getpid());
  EXPECT_DOUBLE_EQ(*gpu.processes->at(1).utilisation, 0.4);
  EXPECT_EQ(gpu.memory.used, Bytes{18000000000});
  worker.reset();
  driver.advance(Seconds(1));
  EXPECT_EQ(driver.read().gpu("GPU-b")->processes->size(), 1u);
}

TEST(EmulatedLoad, WithoutAFakeDriverThereIsNone) {
  const ScopedVariable script("TUTTI_FAKE_NVML", nullptr);
  EXPECT_EQ(EmulatedLoad::on("GPU-a"), nullptr);
}

}  // namespace
}  // namespace tutti
