#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "device/machine.h"
#include "device/telemetry/sampler.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/pool/device_pool.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What others hold of a GPU's memory, the driver included. `before`: what was used of it before our worker was there,
/// which stands for the others where the driver shows no processes (in a container); none: not known.
std::optional<Bytes> used_by_others(const GpuMemory& memory, std::optional<Bytes> before);

/// Why nothing is to be placed on a GPU, by what the driver says of it: it is lost or hung, asks for recovery, or has
/// reported an Xid after which only a reset makes it usable again (that lasts for the run).
std::optional<std::string> trouble_of(const GpuSnapshot& gpu);

/// Why no recording should be taken up beside those in work: less than 5 % of this machine's memory, or half a GiB, is
/// left; once that was so (`was_short`), it takes half as much again to be over.
std::optional<std::string> memory_shortage(const MemoryFacts& memory, bool was_short);

/// The machine beside a batch: what telemetry says of the GPUs that it uses, and its memory. Thread-safe.
class BatchMachine {
 public:
  /// Watches when any device is a GPU, or sits on one.
  explicit BatchMachine(const BatchOptions& options);

  /// Tells the pool which devices the driver has lost, and which are back, and what others use of their memory. To be
  /// called about once a second.
  void tell(DevicePool& pool) const;
  /// memory_shortage of now. One thread.
  std::optional<std::string> shortage();
  /// Adds what is known of a device: load, memory, power, temperature.
  void describe(std::size_t device, DeviceStatus& status) const;
  /// Joules that the batch's GPUs have drawn since it began, where all of them can say.
  std::optional<double> energy() const;
  /// Of each, by its id in the run, where it can say.
  std::map<std::string, double> energy_by_device() const;

 private:
  const BatchOptions& options_;
  std::unique_ptr<Sampler> sampler_{};
  std::map<std::string, Bytes> used_before_{};  // of a GPU's memory, by UUID
  bool was_short_ = false;
  std::map<std::string, double> energy_now() const;  // joules since the driver was loaded, by device id
  std::map<std::string, double> energy_at_start_{};
};

}  // namespace tutti
