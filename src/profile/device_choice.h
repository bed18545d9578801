#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace tutti {

/// A training whose features were computed on a second device, and once more on the model's own. Plain data.
struct DeviceChoice {
  std::string data{}, model{};  ///< "cuda:0", "cuda:1"
  double one_rate = 0;          ///< steps a second on the model's device alone, measured
  double two_rate = 0;          ///< the same with both devices
  double bound = 0;             ///< what two devices gain at most over one, by the phases of a step on one
  Seconds copying{};            ///< of a step's batch to the model's device, with two
  /// Between the two, as `nvidia-smi topo -m` calls it: PIX and PXB go through PCIe switches alone; PHB, NODE and SYS
  /// through a processor, and copies are slow. None: not known.
  std::optional<std::string> link{};

  /// Times as fast with two devices as with one, measured.
  double gain() const { return one_rate > 0 ? two_rate / one_rate : 0; }
};

/// Both rates, measured and predicted gain, what explains them, and whether the second device is worth it: where it
/// gains 10 % or more, as it could train something else instead. Ends with a line end. Pure.
std::string device_choice_text(const DeviceChoice& choice);

/// The same as one JSON object, without a line end: {"devices": {"data", "model", "one_steps_per_s", "two_steps_per_s",
/// "gain", "bound", "copy_ms", "link", "worth"}}.
std::string device_choice_json(const DeviceChoice& choice);

}  // namespace tutti
