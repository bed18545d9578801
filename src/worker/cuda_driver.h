#pragma once

#include <optional>
#include <string>

namespace tutti {

struct CudaDevice {
  std::string uuid{};  // "GPU-…", as NVML writes it
  std::string name{};  // "NVIDIA H100 80GB HBM3"
  int driver = 0;      // CUDA version of the driver: 13000 for 13.0; 0 where it does not say
};

/// The index-th device that CUDA shows this process, by a query to the driver itself (loaded at run time): needs no
/// CUDA toolkit, creates no context. Nothing where there is no driver or no such device.
std::optional<CudaDevice> visible_cuda_device(int index);

}  // namespace tutti
