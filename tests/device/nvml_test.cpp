#include "device/nvml/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "support/environment.h"
#include "support/scripted_machine.h"

namespace tutti {
namespace {

using testing::HasSubstr;

// The driver lists them out of PCI order, and they are unequal in everything.
constexpr const char* kThreeGpus =
    "driver 580.65.06\n"
    "cuda 13000\n"
    "gpu uuid=GPU-cccc0000 bus=0001:01:00.0 total=80000000000 used=79000000000 cc=9.0 name=NVIDIA H100 80GB HBM3\n"
    "gpu uuid=GPU-aaaa0000 bus=0000:02:00.0 total=8000000000 used=1000000000 cc=7.5 name=NVIDIA T4\n"
    "gpu uuid=GPU-aabb0000 bus=0000:0a:00.0 total=24000000000 used=2000000000 cc=8.9 name=NVIDIA L4\n";

Result<ResolvedDevice> resolve_text(std::string_view text) {
  return parse_device(text).and_then([](const DeviceSpec& spec) { return resolve(spec, find_devices()); });
}

TEST(Nvml, GpusAreListedInPciOrderWithAllDriverValues) {
  const ScriptedMachine machine(kThreeGpus);
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  EXPECT_EQ(nvml->driver_version(), "580.65.06");
  EXPECT_EQ(nvml->cuda_version(), "13.0");
  const auto listing = nvml->list();
  ASSERT_TRUE(listing);
  EXPECT_TRUE(listing->problems.empty());
  ASSERT_EQ(listing->gpus.size(), 3u);
  EXPECT_EQ(listing->gpus[0].text(), "0: NVIDIA T4, GPU-aaaa0000");
  EXPECT_EQ(listing->gpus[1].text(), "1: NVIDIA L4, GPU-aabb0000");
  const Gpu& last = listing->gpus[2];
  EXPECT_EQ(last.index, 2);
  EXPECT_EQ(last.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(last.pci_bus_id, "0001:01:00.0");
  EXPECT_EQ(last.memory_total, Bytes{80'000'000'000});
  EXPECT_EQ(last.memory_used, Bytes{79'000'000'000});
  EXPECT_EQ(last.capability, (ComputeCapability{9, 0}));
}

TEST(Nvml, ValuesTheDriverLacksAreAbsent) {
  const ScriptedMachine machine("gpu uuid=GPU-1\ngpu lost\n");
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml);
  EXPECT_EQ(nvml->driver_version(), std::nullopt);
  EXPECT_EQ(nvml->cuda_version(), std::nullopt);
  const auto listing = nvml->list();
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->gpus.size(), 1u);
  EXPECT_EQ(listing->gpus[0].name, std::nullopt);
  EXPECT_EQ(listing->gpus[0].pci_bus_id, std::nullopt);
  EXPECT_EQ(listing->gpus[0].memory_total, std::nullopt);
  EXPECT_EQ(listing->gpus[0].memory_used, std::nullopt);
  EXPECT_EQ(listing->gpus[0].capability, std::nullopt);
  ASSERT_EQ(listing->problems.size(), 1u);
  EXPECT_EQ(listing->problems[0], "GPU 1 does not answer: GPU is lost (15)");
}

TEST(Nvml, ALibraryThatLacksNearlyEveryFunctionStillCounts) {
  const ScopedVariable library("TUTTI_NVML", TUTTI_BARE_NVML_LIBRARY);
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  EXPECT_EQ(nvml->driver_version(), std::nullopt);
  const auto listing = nvml->list();
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->gpus.size(), 1u);
  EXPECT_EQ(listing->gpus[0].uuid, std::nullopt);
}

TEST(Nvml, NoLibraryNoDriverAndNoNvmlAreThreeErrors) {
  {
    const ScopedVariable library("TUTTI_NVML", "/nonexistent/libnvidia-ml.so.1");
    const auto nvml = Nvml::open();
    ASSERT_FALSE(nvml);
    EXPECT_EQ(nvml.error().fault, Fault::missing);
    EXPECT_THAT(nvml.error().what, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  }
  {
    const ScopedVariable library("TUTTI_NVML", TUTTI_FAKE_NVML_LIBRARY), script("TUTTI_FAKE_NVML", nullptr);
    const auto nvml = Nvml::open();
    ASSERT_FALSE(nvml);
    EXPECT_EQ(nvml.error().fault, Fault::device);
    EXPECT_THAT(nvml.error().what, HasSubstr("Driver Not Loaded (9)"));
  }
  const ScopedVariable library("TUTTI_NVML", "libz.so.1");
  const auto nvml = Nvml::open();
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().fault, Fault::unsupported);
}

TEST(Devices, CudaNCountsWhatTheUserLetsUsSee) {
  {
    const ScriptedMachine machine(kThreeGpus);
    EXPECT_EQ(resolve_text("cuda:0")->uuid, "GPU-aaaa0000");
    EXPECT_EQ(resolve_text("cuda")->uuid, "GPU-aaaa0000");
    EXPECT_EQ(resolve_text("cuda:2")->uuid, "GPU-cccc0000");
  }
  const ScriptedMachine machine(kThreeGpus, "2,GPU-aab");
  EXPECT_EQ(resolve_text("cuda:0")->uuid, "GPU-cccc0000");
  EXPECT_EQ(resolve_text("cuda:1")->uuid, "GPU-aabb0000");
  const auto beyond = resolve_text("cuda:2");
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().fault, Fault::missing);
  EXPECT_EQ(beyond.error().text(),
            "cuda:2: there is no such GPU. This machine has cpu, cuda:0 (NVIDIA H100 80GB HBM3, GPU-cccc0000), "
            "cuda:1 (NVIDIA L4, GPU-aabb0000)");
}

TEST(Devices, AutoTakesTheVisibleGpuWithTheMostFreeMemory) {
  {
    const ScriptedMachine machine(kThreeGpus);
    const auto found = resolve_text("auto");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, ResolvedDevice::Kind::cuda);
    EXPECT_EQ(found->uuid, "GPU-aabb0000") << "the H100 is nearly full";
    EXPECT_EQ(found->name, "NVIDIA L4");
  }
  {
    const ScriptedMachine machine(kThreeGpus, "0");
    EXPECT_EQ(resolve_text("auto")->uuid, "GPU-aaaa0000");
  }
  {
    const ScriptedMachine machine("gpu uuid=GPU-old total=8000000000 used=0 cc=6.1 name=NVIDIA P4\n");
    EXPECT_EQ(resolve_text("auto")->kind, ResolvedDevice::Kind::cpu) << "older than the kernels";
  }
  const ScriptedMachine machine(kThreeGpus, "");
  const auto found = resolve_text("auto");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, ResolvedDevice::Kind::cpu);
  EXPECT_EQ(found->uuid, "");
  EXPECT_FALSE(found->name.empty());
}

TEST(Devices, AUuidMayBeShortenedWhileItNamesOneVisibleGpu) {
  const ScriptedMachine machine(kThreeGpus, "0,1");
  EXPECT_EQ(resolve_text("GPU-aaaa0000")->name, "NVIDIA T4");
  EXPECT_EQ(resolve_text("GPU-aab")->name, "NVIDIA L4");
  EXPECT_EQ(resolve_text("GPU-AAB")->name, "NVIDIA L4");
  EXPECT_THAT(resolve_text("GPU-aa").error().text(), HasSubstr("no GPU, or more than one"));
  EXPECT_THAT(resolve_text("GPU-cc").error().text(), HasSubstr("hidden by CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(resolve_text("GPU-dd").error().text(), HasSubstr("cuda:1 (NVIDIA L4, GPU-aabb0000)"));
}

TEST(Devices, ASliceOfAGpuIsADeviceOfItsOwn) {
  constexpr const char* kSliced =
      "gpu uuid=GPU-a bus=0000:01:00.0 total=40000000000 cc=8.0 mig=1 name=NVIDIA A100\n"
      "mig gpu=GPU-a uuid=MIG-1111 total=20000000000 used=1000 gi=1 ci=0 name=NVIDIA A100 MIG 3g.20gb\n"
      "mig gpu=GPU-a uuid=MIG-2222 total=5000000000 used=10 gi=9 ci=0 name=NVIDIA A100 MIG 1g.5gb\n"
      "gpu uuid=GPU-b bus=0000:02:00.0 total=8000000000 mig=0 cc=8.0 name=NVIDIA A30\n";
  {
    const ScriptedMachine machine(kSliced);
    EXPECT_EQ(resolve_text("cuda:1")->uuid, "MIG-2222");
    EXPECT_EQ(resolve_text("cuda:2")->uuid, "GPU-b");
    EXPECT_EQ(resolve_text("MIG-11")->name, "NVIDIA A100 MIG 3g.20gb");
    EXPECT_EQ(resolve_text("auto")->uuid, "MIG-1111");
    const auto whole = resolve_text("GPU-a");
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error().fault, Fault::missing);
    EXPECT_THAT(whole.error().text(), HasSubstr("in MIG mode, name one of its slices: MIG-1111, MIG-2222"));
    EXPECT_THAT(whole.error().text(), testing::Not(HasSubstr("CUDA_VISIBLE_DEVICES")));
  }
  const ScriptedMachine machine(kSliced, "MIG-2222,1");
  EXPECT_EQ(resolve_text("cuda:0")->uuid, "MIG-2222");
  EXPECT_EQ(resolve_text("cuda:1")->uuid, "GPU-b");
  EXPECT_FALSE(resolve_text("MIG-1111"));
  const auto devices = find_devices();
  ASSERT_EQ(devices.visible.size(), 2u);
  EXPECT_EQ(devices.visible[0].memory_total, Bytes{5'000'000'000});
  ASSERT_EQ(devices.gpus.size(), 2u);
  EXPECT_EQ(devices.gpus[0].mig_devices.at(1).gpu_instance, 9);
}

TEST(Devices, AGpuWithoutAUuidCannotBeBound) {
  const ScriptedMachine machine("gpu name=NVIDIA L4\n");
  EXPECT_EQ(resolve_text("cuda:0").error().fault, Fault::device);
  EXPECT_EQ(resolve_text("auto")->kind, ResolvedDevice::Kind::cpu);
}

TEST(Devices, MissingDriverErrorNamesTheReason) {
  const ScopedVariable library("TUTTI_NVML", "/nonexistent/libnvidia-ml.so.1");
  EXPECT_EQ(resolve_text("cpu")->kind, ResolvedDevice::Kind::cpu);
  EXPECT_EQ(resolve_text("auto")->kind, ResolvedDevice::Kind::cpu);
  const auto missing = resolve_text("cuda:0");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_THAT(missing.error().text(), HasSubstr("This machine has cpu"));
}

TEST(Devices, UnknownDeviceIsAUsageError) {
  for (const char* text : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999999999999", "GPU-", "CPU", "0"}) {
    const auto spec = parse_device(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().fault, Fault::usage);
  }
}

}  // namespace
}  // namespace tutti
