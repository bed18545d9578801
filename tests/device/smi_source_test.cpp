#include "device/telemetry/smi_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/files.h"
#include "device/driver_under_test.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// A machine without NVML whose nvidia-smi is this script.
class SmiMachine {
 public:
  explicit SmiMachine(const std::string& script) : driver_("", "/nonexistent/libnvidia-ml.so.1") {
    const auto program = folder_ / "nvidia-smi";
    EXPECT_TRUE(write_file_atomically(program, "#!/bin/sh\n" + script));
    ::chmod(program.c_str(), 0755);
    smi_.emplace("TUTTI_NVIDIA_SMI", program.c_str());
  }
  DriverUnderTest& driver() { return driver_; }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  TempFolder folder_;
  DriverUnderTest driver_;
  std::optional<ScopedVariable> smi_;
};

const std::vector<std::string> kFields{"index",
                                       "uuid",
                                       "pci.bus_id",
                                       "name",
                                       "memory.total",
                                       "memory.used",
                                       "utilization.gpu",
                                       "power.draw",
                                       "driver_version",
                                       "temperature.memory",
                                       "clocks_throttle_reasons.active"};

TEST(Smi, ItsLinesAreReadAndItsBracketsAreAbsent) {
  std::optional<std::string> driver;
  const auto gpus = parse_smi(
      "0, GPU-a, 00000000:01:00.0, NVIDIA L4, 23034, 1024, 37, 71.50, 535.183.01, [N/A], 0x0000000000000004\n"
      "warning: persistence mode is off\n"
      "1, GPU-b, 00000000:02:00.0, NVIDIA T4, 15360, 0, [Not Supported], [Unknown Error], 535.183.01, 40, [N/A]\n",
      kFields, driver);
  EXPECT_EQ(driver, "535.183.01");
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].index, 0);
  EXPECT_EQ(gpus[0].uuid, "GPU-a");
  EXPECT_EQ(gpus[0].name, "NVIDIA L4");
  EXPECT_EQ(gpus[0].memory.total, Bytes{23034LL << 20});
  EXPECT_EQ(gpus[0].memory.used, Bytes{1024LL << 20});
  EXPECT_DOUBLE_EQ(*gpus[0].utilisation.gpu, 0.37);
  EXPECT_EQ(gpus[0].power, 71.5);
  EXPECT_EQ(gpus[0].temperatures.memory, std::nullopt);
  EXPECT_EQ(gpus[0].throttled_by->at(0).key, "sw_power_cap");
  EXPECT_EQ(gpus[1].utilisation.gpu, std::nullopt);
  EXPECT_EQ(gpus[1].power, std::nullopt);
  EXPECT_EQ(gpus[1].temperatures.memory, 40);
  EXPECT_EQ(gpus[1].throttled_by, std::nullopt);
}

TEST(Smi, LostGpuIsRecognisedByItsFields) {
  std::optional<std::string> driver;
  const auto gpus = parse_smi(
      "0, GPU-a, 00000000:01:00.0, NVIDIA L4, [GPU is lost], [GPU is lost], [GPU is lost], "
      "[GPU is lost], 535.183.01, [GPU is lost], [GPU is lost]\n",
      kFields, driver);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].state, GpuState::lost);
  EXPECT_EQ(gpus[0].memory.used, std::nullopt);
}

TEST(Smi, ProcessesGoToTheirCards) {
  std::vector<GpuSnapshot> gpus{{.uuid = "GPU-a"}, {.uuid = "GPU-b"}};
  add_smi_processes("GPU-b, 4711, 1536\nGPU-b, 4712, [N/A]\n", gpus);
  EXPECT_TRUE(gpus[0].processes->empty());
  ASSERT_EQ(gpus[1].processes->size(), 2u);
  EXPECT_EQ(gpus[1].processes->at(0).pid, 4711);
  EXPECT_EQ(gpus[1].processes->at(0).memory, Bytes{1536LL << 20});
  EXPECT_EQ(gpus[1].processes->at(1).memory, std::nullopt);
}

TEST(Smi, TakesOverWhereTheLibraryCannotBeLoaded) {
  // It answers every field with the index of its name; an old one does not know the newer fields.
  SmiMachine machine(
      "case \"$1\" in\n"
      "  *memory.reserved*) echo 'Field \"memory.reserved\" is not a valid field to query.'; exit 2;;\n"
      "  --query-compute-apps=*) echo 'GPU-a, 99999999, 512';;\n"
      "  *) echo '0, GPU-a, 00000000:01:00.0, NVIDIA K80, 470.1, 11441, 600, 10841, 12, 3, 60.1, 149, 41, 562, 562, "
      "2505'"
      ";;\nesac\n");
  const auto all = machine.driver().read();
  EXPECT_EQ(all.source, "nvidia-smi");
  EXPECT_EQ(all.driver, "470.1");
  ASSERT_EQ(all.gpus.size(), 1u);
  const GpuSnapshot& gpu = all.gpus[0];
  EXPECT_EQ(gpu.state, GpuState::ok);
  EXPECT_EQ(gpu.memory.free, Bytes{10841LL << 20});
  EXPECT_EQ(gpu.memory.reserved, std::nullopt);
  EXPECT_EQ(gpu.clocks.memory, 2.505e9);
  EXPECT_EQ(gpu.processes->at(0).pid, 99999999);
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_THAT(all.notes[0], HasSubstr("cannot be loaded"));
}

/// How often the machine's nvidia-smi, which writes a line each time, was run.
long times_queried(const SmiMachine& machine) {
  const auto text = read_file(machine.path("asked")).value_or("");
  return std::count(text.begin(), text.end(), '\n');
}

TEST(Smi, IsQueriedEveryFiveSecondsOnly) {
  // A round is two questions: for GPUs and for processes.
  SmiMachine machine("echo once >> \"$(dirname \"$0\")/asked\"\n");
  machine.driver().read();
  EXPECT_EQ(times_queried(machine), 2);
  machine.driver().advance(Seconds(4));
  machine.driver().read();
  EXPECT_EQ(times_queried(machine), 2);
  machine.driver().advance(Seconds(1));
  machine.driver().read();
  EXPECT_EQ(times_queried(machine), 4);
}

TEST(Smi, IsLeftAloneForAWhileWhenItFails) {
  SmiMachine machine("echo once >> \"$(dirname \"$0\")/asked\"; exit 9\n");
  machine.driver().read();
  machine.driver().advance(Seconds(29));
  machine.driver().read();
  EXPECT_EQ(times_queried(machine), 1);
  machine.driver().advance(Seconds(1));
  const auto all = machine.driver().read();
  EXPECT_EQ(times_queried(machine), 2);
  EXPECT_THAT(all.notes.at(0), HasSubstr("cannot be loaded"));
}

}  // namespace
}  // namespace tutti
