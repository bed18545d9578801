#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdio>

#include "model/gpu.h"

namespace tutti::gpu {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

/// `ask()`, with what torch throws turned into a value. A missing device is named before torch is asked.
template <class Ask>
auto asked(int index, Ask&& ask) -> Result<decltype(ask())> {
  const auto thing = "cuda:" + std::to_string(index);
  if (index < 0 || index >= count()) {
    return fail(Fault::missing, thing + ": this process sees " + std::to_string(count()) + " CUDA devices",
                "Check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu");
  }
  try {
    return ask();
  } catch (const c10::Error& error) {
    return fail(Fault::device, thing + ": " + error.what_without_backtrace());
  }
}

Bytes bytes(std::size_t value) {
  return Bytes{static_cast<std::int64_t>(value)};
}

}  // namespace

int count() {
  return c10::cuda::device_count();
}

Result<Facts> facts(int index) {
  return asked(index, [&] {
    const auto* found = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index));
    return Facts{found->name, uuid_text(found->uuid), bytes(found->totalGlobalMem), found->major * 10 + found->minor};
  });
}

Result<Memory> memory(int index) {
  return asked(index, [&] {
    const auto [free, total] =
        c10::cuda::CUDACachingAllocator::get()->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
    return Memory{bytes(free), bytes(total)};
  });
}

void synchronize(int index) {
  c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).synchronize();
}

void release_cached_memory() {
  if (count() > 0) c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace tutti::gpu
