#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "device/telemetry/sampler.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/pool/device_pool.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// The machine beside a batch: what telemetry says of the GPUs that it uses. Thread-safe.
class BatchMachine {
 public:
  /// Watches when any device is a GPU, or sits on one.
  explicit BatchMachine(const BatchOptions& options);

  /// Tells the pool which devices the driver has lost, and which are back. To be called about once a second.
  void tell(DevicePool& pool) const;
  /// Adds what is known of a device: load, memory, power, temperature.
  void describe(std::size_t device, DeviceStatus& status) const;
  /// Joules that the batch's GPUs have drawn since it began, where all of them can say.
  std::optional<double> energy() const;

 private:
  const BatchOptions& options_;
  std::unique_ptr<Sampler> sampler_{};
  std::optional<double> energy_at_start_{};
  std::optional<double> energy_now() const;
};

}  // namespace tutti
