#pragma once

#include <optional>
#include <string>

namespace tutti {

struct CudaDevice {
  std::string uuid{};  // "GPU-…", as NVML writes it
  std::string name{};  // "NVIDIA H100 80GB HBM3"
};

/// The index-th device that CUDA shows this process, asked of the driver itself (loaded at run time): needs no CUDA
/// toolkit, creates no context. Nothing where there is no driver or no such device.
std::optional<CudaDevice> visible_cuda_device(int index);

}  // namespace tutti
