#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "device/telemetry/machine_snapshot.h"
#include "device/visible.h"

namespace tutti {

struct SamplerOptions {
  Seconds period{1};                           ///< between snapshots
  Seconds pcie_period{10};                     ///< between PCIe measurements, which take 40 ms a GPU; 0: none
  Seconds patience{3};                         ///< a driver call that takes longer makes its GPU `hung`
  Seconds farewell{0.5};                       ///< longest the destructor waits for a driver call that hangs
  std::vector<std::filesystem::path> disks{};  ///< folders whose free space is watched
  std::optional<int> own_root{};               ///< whose tree counts as own; absent: this process
  std::optional<std::string> visible_devices = cuda_visible_devices();  ///< absent: unset, all are visible
};

struct SamplerState;

/// Watches the machine: a thread that publishes a snapshot a second and never calls the driver, one that does (NVML,
/// else nvidia-smi), one for PCIe throughput. A driver call that hangs makes that GPU's values old and its state
/// `hung`; the other GPUs go on with another thread, and no caller waits. Costs no GPU memory: no CUDA context is ever
/// made.
class Sampler {
 public:
  explicit Sampler(SamplerOptions options = {}, const Clock& clock = Clock::real());
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Returns within a moment, or `farewell` where a driver call hangs; its thread is then left behind.
  ~Sampler();

  /// The newest snapshot; never null, never waits. Thread-safe.
  std::shared_ptr<const MachineSnapshot> latest() const;
  /// The first snapshot that has GPU data and rates, or what there is after `patience`: for commands that look once.
  std::shared_ptr<const MachineSnapshot> settled(Seconds patience) const;

 private:
  std::shared_ptr<SamplerState> state_;
};

}  // namespace tutti
