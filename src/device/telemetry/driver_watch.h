#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/guarded.h"
#include "device/nvml/nvml_source.h"
#include "device/telemetry/gpu_table.h"
#include "device/telemetry/smi_source.h"

namespace tutti {

/// What the threads that read GPUs share.
struct DriverState {
  explicit DriverState(Seconds patience) : table(GpuTable(patience)) {}
  Guarded<GpuTable> table;
  std::shared_ptr<Guarded<NvmlView>> view = std::make_shared<Guarded<NvmlView>>();
};

/// One reader of GPUs: by NVML, else by nvidia-smi, into the table of the DriverState. One thread, whose calls may
/// hang; another reader can then take over.
class DriverWatch {
 public:
  /// `reader`: its number in the table. `is_needed`: whether it still is the one to read.
  DriverWatch(std::shared_ptr<DriverState> driver, int reader, const Clock& clock, std::function<bool()> is_needed);

  /// One round over all GPUs.
  void read_once();

 private:
  class Sink;
  std::shared_ptr<DriverState> driver_;
  int reader_;
  const Clock& clock_;
  std::function<bool()> is_needed_;
  NvmlSource nvml_;
  SmiSource smi_;
};

/// Measures PCIe throughput of all GPUs that answer, 40 ms each.
void measure_all_pcie(DriverState& driver, const Clock& clock, const std::function<bool()>& is_needed);

}  // namespace tutti
