#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/units.h"
#include "device/telemetry/sampler.h"

namespace tutti {

/// What this process and its children hold of a GPU's memory. It is what the driver reports, or, where the driver shows
/// no processes (in a container), what is used beyond what was used `before` they began. Nothing where neither is
/// known.
std::optional<Bytes> held_by_us(const GpuMemory& memory, std::optional<Bytes> before);

/// The most memory that the worker of a trial was seen to hold. Not thread-safe.
class PeakMemory {
 public:
  /// `device` as --device names it. To be made before the worker starts: what a GPU holds until then is not the
  /// worker's. Watches a GPU from now on; waits up to three seconds for its first values.
  explicit PeakMemory(const std::string& device);

  void look();
  /// The peak in this machine's memory; nothing where the worker was never looked at, or the kernel does not report it.
  std::optional<Bytes> resident() const { return resident_; }
  /// The peak in the GPU's memory; nothing on a CPU, on a slice of a GPU, and where the driver does not report it.
  std::optional<Bytes> on_gpu() const { return on_gpu_; }

 private:
  std::optional<GpuMemory> gpu_memory() const;

  std::string uuid_{};  // of the GPU; empty: none
  std::unique_ptr<Sampler> sampler_{};
  std::optional<Bytes> before_{};
  std::optional<Bytes> resident_{};
  std::optional<Bytes> on_gpu_{};
};

}  // namespace tutti
