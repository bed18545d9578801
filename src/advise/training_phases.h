#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/spread.h"

namespace tutti {

/// How long one phase of a training's steps took.
struct Phase {
  std::string name;  ///< "Data Load"
  Spread times{};
  /// Share of the time, 0 to 1, on the path that the steps' ends depend on: phases beside it count nothing, so that all
  /// of them together are 1.
  double share = 0;
};

/// The phases of field note 002: data load, preprocess, copy to the device, training, and a whole step.
struct StepPhases {
  Phase load{"Data Load"}, preprocess{"Preprocess"}, transfer{"GPU Transfer"}, training{"Training"}, total{"Total"};
};

/// What the note's rules are about.
struct RuleFigures {
  double load = 0, transfer = 0, training = 0;    ///< shares of the time
  double variation = 0;                           ///< variation of a step's time: standard deviation over mean
  std::optional<double> data_gpu{}, model_gpu{};  ///< utilisation, 0 to 1; none: not measured
};

/// A rule of the note that holds.
struct NamedRule {
  std::string_view name;  ///< "DATA_LOADING"
  double figure = 0;      ///< what was found, a share
  double bound = 0;       ///< above it, or below it, the rule holds
};

/// The note's named rules that hold, in its order; none: no major bottleneck. Its three targets for the model's device
/// (40-60, 70 and 80 %) are one here, 70 %; where no driver reports how busy that is, training's share counts. Pure.
std::vector<NamedRule> rules_that_hold(const RuleFigures& figures);

/// What two devices gain where the data's computes features for the next batch while the model's trains, by the phases
/// of a step.
struct TwoDevices {
  Seconds one{};    ///< a step with all phases one after the other: not more, for a wait counts beside what it was for
  Seconds two{};    ///< a step with them at the same time: the longest phase, not less
  double gain = 0;  ///< one / two: a bound, not a measurement
};
TwoDevices two_devices(const StepPhases& phases);

/// What the device of a training was used for over a stretch of it. All are shares, 0 to 1, weighted by time.
struct TrainingUse {
  double busy = 0;     ///< share of the time in which the device had something to compute
  double waiting = 0;  ///< share of the time in which a step waited for its batch
  double host = 0;     ///< share of the steps' time: the thread that launches their work was on a processor
};

/// Why a device has little to do.
enum class LowUse {
  feed,    ///< batches come too late
  launch,  ///< the processor takes longer to launch a step's work than the device to do it
  batch,   ///< a step's work is too small for what each step costs beside it
};

/// A device that is busy for a smaller share of the time is worth a warning.
inline constexpr double kLowUse = 0.3;

/// The larger part of the idle time decides: waits for batches, or what a step costs the host. Pure.
LowUse cause_of(const TrainingUse& use);

/// What twice as large a batch gains in samples a second, as a share: the idle part of a step is there once for twice
/// as many samples, its busy part is twice as long, and waits for batches grow with them. Pure.
double gain_of_double_batch(const TrainingUse& use);

/// The most that a feed without waits can gain, as a share. Pure.
double gain_without_waits(const TrainingUse& use);

}  // namespace tutti
