#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/units.h"

/// What only a CUDA build can do, as plain calls: gpu_cuda.cpp behind them in a build with CUDA, no_gpu.cpp otherwise
/// (CMake picks the file). `index` is CUDA's own number of the device in this process. Thread-safe.
namespace tutti::gpu {

/// CUDA devices this process sees; 0 without CUDA, a driver or a card.
int count();

struct Facts {
  std::string name{};  // "NVIDIA H100 80GB HBM3"
  std::string uuid{};  // as NVML and nvidia-smi write it: "GPU-8ba2f4d1-..."
  Bytes memory{};
  int capability = 0;  // 75 for Turing, 80 for Ampere, 90 for Hopper
};

Result<Facts> facts(int index);

struct Memory {
  Bytes free{};  // on the device, what torch keeps for reuse not counted
  Bytes total{};
};

Result<Memory> memory(int index);

/// Waits for everything enqueued on the device's current stream. Throws what torch throws where the device has failed.
void synchronize(int index);

/// Gives memory that torch keeps for reuse back to the device, on every device.
void release_cached_memory();

}  // namespace tutti::gpu
