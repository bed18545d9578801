#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/gpu.h"

namespace tutti {

struct NvmlLibrary;

/// The NVIDIA driver's version, "580.65.06".
std::optional<std::string> driver_version(const NvmlLibrary& library);

/// NVIDIA's management library, loaded at run time: libnvidia-ml.so.1, or the file named by TUTTI_NVML. It needs no
/// CUDA context and costs no GPU memory. Every function of it is optional: an old or limited driver makes facts absent.
/// Movable; calls are thread-safe, as NVML's are.
class Nvml {
 public:
  /// Fault::missing without the library, Fault::device where the driver does not answer.
  static Result<Nvml> open();

  std::optional<std::string> driver_version() const;
  /// The newest CUDA the driver can run, as "13.0".
  std::optional<std::string> cuda_version() const;

  struct Listing {
    std::vector<Gpu> gpus;              ///< in PCI order
    std::vector<std::string> problems;  ///< GPUs that are there but do not answer
  };
  /// Queries the driver again each time; some milliseconds per GPU.
  Result<Listing> list() const;

  /// The loaded library, for further queries.
  const NvmlLibrary& library() const { return *library_; }

 private:
  explicit Nvml(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {}
  std::shared_ptr<const NvmlLibrary> library_;
};

}  // namespace tutti
