#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// Steps a second of one training with its features computed in three ways, one run behind the other.
struct DeviceRound {
  double none = 0;  ///< by no data device: by the feed's threads, or as the set has them; 0: its recipe needs one
  double one = 0;   ///< on the model's device
  double two = 0;   ///< on the second device
};

/// How many times as fast one way is as another: the mean of the rounds' ratios, and where it is in 95 of 100 such
/// measurements. `low` is 0 and `high` infinite with fewer than two rounds.
struct MeasuredGain {
  double gain = 0;
  double low = 0, high = 0;
};

/// Whether a second device is worth it: it gains 10 % or more over the faster of the other two ways.
enum class DeviceWorth { yes, no, not_known };

/// A training whose features were computed on a second device, and in other ways. Plain data.
struct DeviceChoice {
  std::string data{}, model{};        ///< "cuda:0", "cuda:1"
  std::vector<DeviceRound> rounds{};  ///< that were measured
  double bound = 0;                   ///< what two devices gain at most over one, by the phases of a step on one
  Seconds copying{};                  ///< of a step's batch to the model's device, with two
  /// Between the two, as `nvidia-smi topo -m` calls it: PIX and PXB go through PCIe switches alone; PHB, NODE and SYS
  /// through a processor, and copies are slow. None: not known.
  std::optional<std::string> link{};

  /// Of two devices over the other way, `&DeviceRound::one` or `&DeviceRound::none`.
  MeasuredGain gain_over(double DeviceRound::*other) const;
  /// Not known until the interval is on one side of 10 % with three rounds or more. Two that gain less by the bound are
  /// not worth it whatever is measured.
  DeviceWorth worth() const;
};

/// After so many rounds it is not known either.
inline constexpr std::size_t kMostDeviceRounds = 6;

/// All rates, measured and predicted gain, what explains them, and whether the second device is worth it, or that this
/// cannot be decided. Ends with a line end. Pure.
std::string device_choice_text(const DeviceChoice& choice);

/// The same as one JSON object, without a line end: {"devices": {"data", "model", "none_steps_per_s",
/// "one_steps_per_s", "two_steps_per_s", "gain", "low", "high", "gain_over_none", "bound", "rounds", "copy_ms", "link",
/// "worth", "decided"}}.
std::string device_choice_json(const DeviceChoice& choice);

}  // namespace tutti
