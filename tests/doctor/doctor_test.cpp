#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "doctor/checks.h"
#include "doctor/report.h"
#include "support/environment.h"
#include "support/fake_root.h"
#include "support/scripted_machine.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using Level = Finding::Level;

auto is(Level level, const std::string& thing, const std::string& found, const std::string& remedy = "") {
  return AllOf(Field(&Finding::level, level), Field(&Finding::thing, thing), Field(&Finding::found, HasSubstr(found)),
               Field(&Finding::remedy, HasSubstr(remedy)));
}

GpuSnapshot healthy() {
  GpuSnapshot gpu{.uuid = "GPU-a"};
  gpu.index = 0;
  gpu.cuda_order = 0;
  gpu.name = "NVIDIA L4";
  gpu.memory.total = Bytes{std::int64_t{24} << 30};
  gpu.memory.free = Bytes{std::int64_t{23} << 30};
  gpu.temperatures.gpu = 40;
  gpu.temperatures.slowdown_limit = 88;
  gpu.throttled_by.emplace();
  gpu.errors.ecc_uncorrected = 0;
  gpu.errors.recovery_action = "none";
  gpu.errors.xids.emplace();
  return gpu;
}

std::vector<Finding> findings_of(const GpuSnapshot& gpu) {
  MachineSnapshot all{.number = 1, .source = "nvml", .gpus = {gpu}};
  Findings findings;
  check_gpus(all, findings);
  return findings.all();
}

TEST(Doctor, AHealthyGpuIsOneGoodLine) {
  EXPECT_THAT(findings_of(healthy()),
              ElementsAre(is(Level::good, "GPU 0", "NVIDIA L4, GPU-a, cuda:0, 25.8 GB, 24.7 GB free")));
}

TEST(Doctor, EachThingWrongWithAGpuHasItsRemedy) {
  auto gpu = healthy();
  gpu.state = GpuState::lost;
  gpu.reason = "the driver reports: GPU is lost (15)";
  EXPECT_THAT(findings_of(gpu), ElementsAre(is(Level::broken, "GPU 0", "GPU is lost (15)", "dmesg")));
  gpu.state = GpuState::hung;
  EXPECT_THAT(findings_of(gpu), ElementsAre(is(Level::broken, "GPU 0", "", "reset")));
  gpu = healthy();
  gpu.errors.ecc_uncorrected = 2;
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::broken, "GPU 0", "2 memory errors", "--gpu-reset")));
  gpu = healthy();
  gpu.errors.recovery_action = "reset the GPU";
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::broken, "GPU 0", "requests recovery", "reset the GPU")));
  gpu = healthy();
  (*gpu.errors.xids)[79].count = 1;
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::broken, "GPU 0", "Xid 79", "dmesg")));
  gpu = healthy();
  gpu.throttled_by = throttle_reasons(0x40);
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::note, "GPU 0", "too hot", "cooling")));
  gpu = healthy();
  gpu.temperatures.gpu = 86;
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::note, "GPU 0", "slows down at 88", "cooling")));
  gpu = healthy();
  gpu.utilisation.doubt = "reports 100 % with no process and no memory in use";
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::note, "GPU 0", "cannot be true", "own work")));
  gpu = healthy();
  gpu.memory.foreign = Bytes{5'000'000'000};
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::note, "GPU 0", "other programs hold 5.0")));
  gpu = healthy();
  gpu.cuda_order.reset();
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::note, "GPU 0", "hidden", "GPU-a")));
  gpu = healthy();
  gpu.mig = true;
  EXPECT_THAT(findings_of(gpu), Contains(is(Level::broken, "GPU 0", "without a slice", "nvidia-smi mig")));
}

TEST(Doctor, WithoutADriverItLooksWhyThereIsNone) {
  const MachineSnapshot none{.number = 1, .notes = {"libnvidia-ml.so.1: cannot be loaded"}};
  const FakeRoot root;
  const auto look = [&] {
    Findings findings;
    check_gpus(none, findings, root.path());
    return findings.all();
  };
  EXPECT_THAT(look(), ElementsAre(is(Level::note, "GPU", "none: libnvidia-ml.so.1")));
  root.put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  root.put("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  root.put("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
  root.put("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");
  EXPECT_THAT(look(), ElementsAre(is(Level::broken, "driver", "1 NVIDIA card(s)", "Install NVIDIA's driver")));
  root.put("dev/nvidiactl", "");
  EXPECT_THAT(look(), ElementsAre(is(Level::broken, "driver", "cannot be loaded", "container toolkit")));
}

TEST(Doctor, HungDriverIsReportedAsBroken) {
  const MachineSnapshot all{
      .number = 1, .driver_hangs = true, .notes = {"NVIDIA's management library does not answer"}};
  Findings findings;
  check_gpus(all, findings);
  EXPECT_THAT(findings.all(), ElementsAre(is(Level::broken, "driver", "does not come back", "restart the machine")));
}

TEST(Doctor, TooFewOpenFilesAreBrokenAndSomeAreANote) {
  const auto look = [](std::optional<std::uint64_t> files, std::optional<std::uint64_t> most) {
    Findings findings;
    check_limits({.open_files = files, .most_open_files = most}, findings);
    return findings.all().front();
  };
  EXPECT_THAT(look(256, 1 << 20), is(Level::broken, "limits", "256 open files", "ulimit -n 4096"));
  EXPECT_THAT(look(256, 256), is(Level::broken, "limits", "256 open files", "limits.conf"));
  EXPECT_THAT(look(1024, 1 << 20), is(Level::note, "limits", "1024 open files", "ulimit -n 4096"));
  EXPECT_THAT(look(65536, 1 << 20), is(Level::good, "limits", "65536 open files"));
  EXPECT_THAT(look(std::nullopt, std::nullopt), is(Level::good, "limits", "any number"));
}

TEST(Doctor, StateFolderMustBeLocalWritableAndHaveSpace) {
  const auto look = [](const FolderFacts& state) {
    Findings findings;
    check_state(state, findings);
    return findings.all().front();
  };
  FolderFacts state{.path = "/home/ada/.local/state/tutti", .free = Bytes{std::int64_t{80} << 30}};
  EXPECT_THAT(look(state), is(Level::good, "state", "85.9 GB free"));
  state.writable = false;
  EXPECT_THAT(look(state), is(Level::broken, "state", "not ours to write to", "TUTTI_STATE or state"));
  state.on_network = "NFS";
  EXPECT_THAT(look(state), is(Level::broken, "state", "on NFS, where locks do not hold", "a disk of this machine"));
  state = {.path = "/small", .free = Bytes{100 << 20}};
  EXPECT_THAT(look(state), is(Level::broken, "state", "free", "Free some space"));
  state.free = fail(Fault::missing, "/gone: its file system cannot be queried");
  EXPECT_THAT(look(state), is(Level::broken, "state", "/gone"));
}

TEST(Doctor, TheFolderForTemporaryFilesMustBeThere) {
  const auto look = [](const std::string& folder) {
    const ScopedVariable named("TMPDIR", folder.c_str());
    Findings findings;
    check_disks(findings);
    return findings.all().front();
  };
  const TempFolder folder;
  EXPECT_THAT(look(folder.path()).found, HasSubstr(" free"));
  EXPECT_THAT(look(folder / "gone"), is(Level::broken, "temporary", "there is no such folder", "TMPDIR"));
}

TEST(Doctor, AFolderThatIsNotThereYetIsItsDisks) {
  const TempFolder folder;
  const FolderFacts facts = FolderFacts::of(folder / "not" / "yet");
  ASSERT_TRUE(facts.free);
  EXPECT_GT(facts.free->value, 0);
  EXPECT_TRUE(facts.writable);
  EXPECT_FALSE(std::filesystem::exists(folder / "not")) << "it only looks";
}

TEST(Doctor, ADriverOlderThanOurCudaIsBroken) {
  Findings old, fresh;
  check_cuda("12.8", old);
  EXPECT_THAT(old.all(), Contains(is(Level::broken, "CUDA", "up to 12.8", "580 or newer")));
  check_cuda("13.1", fresh);
  EXPECT_THAT(fresh.all(), Contains(is(Level::good, "CUDA", "up to 13.1")));
}

TEST(Doctor, JsonReportOmitsAbsentValues) {
  Findings findings;
  findings.note("GPU 0", "bad \xff byte", "do this");
  auto gpu = healthy();
  gpu.power = 61.5;
  const MachineSnapshot all{.number = 1, .source = "nvml", .gpus = {gpu}};
  Topology topology{.gpus = {{.index = 0, .uuid = "GPU-a", .numa_node = 1}, {.index = 1}}};
  topology.paths = {{std::nullopt, GpuPath{GpuPath::Kind::nvlink, 4}}, {std::nullopt, std::nullopt}};
  const auto json = nlohmann::json::parse(doctor_json(findings, all, topology));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["worst"], "note");
  EXPECT_EQ(json["findings"][0]["remedy"], "do this");
  EXPECT_EQ(json["gpus"][0]["power_watts"], 61.5);
  EXPECT_EQ(json["gpus"][0]["memory_total_bytes"], std::int64_t{24} << 30);
  EXPECT_FALSE(json["gpus"][0].contains("utilization_ratio"));
  EXPECT_THAT(json["gpus"][0]["throttled_by"], IsEmpty());
  EXPECT_EQ(json["topology"]["paths"][0]["path"], "NV4");
  EXPECT_EQ(json["topology"]["gpus"][0]["numa_node"], 1);
  EXPECT_FALSE(json["topology"]["gpus"][1].contains("uuid"));
}

TEST(Doctor, ALinkAcrossNumaNodesIsCalledSlower) {
  using Kind = GpuPath::Kind;
  Topology topology{.gpus = {{.index = 0, .numa_node = 0}, {.index = 1, .numa_node = 0}, {.index = 2, .numa_node = 1}},
                    .nodes = {{.number = 0}, {.number = 1}}};
  topology.paths = {{std::nullopt, GpuPath{Kind::single}, GpuPath{Kind::system}},
                    {GpuPath{Kind::single}, std::nullopt, GpuPath{Kind::system}},
                    {GpuPath{Kind::system}, GpuPath{Kind::system}, std::nullopt}};
  Findings findings;
  check_topology(topology, findings);
  EXPECT_THAT(findings.text(), HasSubstr("GPU 0 and GPU 2, GPU 1 and GPU 2: linked across NUMA nodes (SYS), which is "
                                         "slower: copies go through the processor"));
  EXPECT_EQ(findings.worst(), Finding::Level::note);
  topology.paths[0][2] = topology.paths[1][2] = GpuPath{Kind::node};
  Findings near;
  check_topology(topology, near);
  EXPECT_EQ(near.worst(), Finding::Level::good) << near.text();
}

}  // namespace
}  // namespace tutti
