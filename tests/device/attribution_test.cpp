#include "device/telemetry/attribution.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr Bytes kGB{1'000'000'000};

GpuSnapshot gpu_with(std::vector<GpuProcess> processes, Bytes used) {
  GpuSnapshot gpu{.uuid = "GPU-a"};
  gpu.index = 0;
  gpu.memory.used = used;
  gpu.memory.reserved = Bytes{1};
  gpu.utilisation.gpu = 0.9;
  gpu.utilisation.by_process = true;
  gpu.processes = std::move(processes);
  return gpu;
}

const HostSnapshot kHost{
    .processes = {{.pid = 10, .name = "tutti-engine", .own = true}, {.pid = 20, .name = "python"}}};

TEST(Attribution, MemoryAndLoadAreSplitByWhoseProcessItIs) {
  auto gpu = gpu_with({{.pid = 10, .memory = Bytes{3 * kGB.value}, .utilisation = 0.5},
                       {.pid = 20, .memory = Bytes{2 * kGB.value}, .utilisation = 0.25}},
                      Bytes{6 * kGB.value});
  attribute_load(gpu, kHost);
  EXPECT_TRUE(gpu.processes->at(0).own);
  EXPECT_EQ(gpu.processes->at(1).name, "python");
  EXPECT_EQ(gpu.memory.own, Bytes{3 * kGB.value});
  EXPECT_EQ(gpu.memory.foreign, Bytes{3 * kGB.value}) << "what no process explains is not ours either";
  EXPECT_EQ(gpu.utilisation.own, 0.5);
  EXPECT_EQ(gpu.utilisation.foreign, 0.25);
}

TEST(Attribution, EmptyGpuHasNoOwnAndNoForeignLoad) {
  auto gpu = gpu_with({}, Bytes{0});
  gpu.utilisation.gpu = 0;
  attribute_load(gpu, kHost);
  EXPECT_EQ(gpu.memory.own, Bytes{0});
  EXPECT_EQ(gpu.memory.foreign, Bytes{0});
  EXPECT_EQ(gpu.utilisation.own, 0.0);
}

TEST(Attribution, LoadOfNoNamedProcessIsSplitByNothing) {
  auto none = gpu_with({}, Bytes{0}), idle = gpu_with({{.pid = 10, .memory = kGB, .utilisation = 0}}, kGB);
  for (GpuSnapshot* gpu : {&none, &idle}) {
    attribute_load(*gpu, kHost);
    EXPECT_EQ(gpu->utilisation.own, std::nullopt);
    EXPECT_EQ(gpu->utilisation.foreign, std::nullopt);
    EXPECT_EQ(gpu->utilisation.gpu, 0.9);
  }
}

TEST(Attribution, HiddenProcessesMakeTheSplitAbsentNotZero) {
  auto gpu = gpu_with({}, Bytes{6 * kGB.value});
  attribute_load(gpu, kHost);
  EXPECT_EQ(gpu.memory.own, std::nullopt);
  EXPECT_EQ(gpu.memory.foreign, std::nullopt);
  EXPECT_EQ(gpu.utilisation.own, std::nullopt);
}

TEST(Attribution, AProcessThatDoesNotExistHereMayBeOursUnderAnotherNumber) {
  auto gpu = gpu_with({{.pid = 4711, .memory = kGB}}, kGB);
  attribute_load(gpu, kHost);
  EXPECT_EQ(gpu.memory.own, std::nullopt);
  EXPECT_EQ(gpu.memory.foreign, std::nullopt);
}

TEST(Attribution, AnOwnProcessOfUnknownMemoryMakesTheSplitAbsent) {
  auto gpu = gpu_with({{.pid = 10, .memory = std::nullopt}}, Bytes{6 * kGB.value});
  attribute_load(gpu, kHost);
  EXPECT_EQ(gpu.memory.own, std::nullopt);
  EXPECT_EQ(gpu.memory.foreign, std::nullopt);
}

std::vector<GpuSnapshot> three() {
  std::vector<GpuSnapshot> gpus{{.uuid = "GPU-a"}, {.uuid = "GPU-b"}, {.uuid = "GPU-c"}};
  gpus[0].index = 0;
  gpus[1].index = 1;
  gpus[2].state = GpuState::lost;
  return gpus;
}

TEST(CudaOrder, FollowsTheVisibleDevices) {
  auto gpus = three();
  EXPECT_EQ(number_as_cuda(gpus, std::nullopt), std::nullopt);
  EXPECT_EQ(gpus[0].cuda_order, 0);
  EXPECT_EQ(gpus[1].cuda_order, 1);
  EXPECT_EQ(gpus[2].cuda_order, std::nullopt) << "it is not there";
  gpus = three();
  EXPECT_EQ(number_as_cuda(gpus, "GPU-b"), std::nullopt);
  EXPECT_EQ(gpus[0].cuda_order, std::nullopt);
  EXPECT_EQ(gpus[1].cuda_order, 0);
  gpus = three();
  EXPECT_TRUE(number_as_cuda(gpus, "1,7").has_value());
  EXPECT_EQ(gpus[1].cuda_order, 0);
}

}  // namespace
}  // namespace tutti
