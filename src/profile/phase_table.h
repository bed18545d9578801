#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/training_phases.h"
#include "base/units.h"
#include "metrics/time_weighted.h"

namespace tutti {

/// A training's devices for the note's table: what they are called, and how busy they were by their driver. A device
/// that no driver reports on, such as a processor, has no load.
struct PhaseDevices {
  /// Computes the features.
  std::string data{"cpu"};
  /// Trains, and is what the rules about the model's GPU are about.
  std::string model{"cpu"};
  /// Utilisation of the first, 0 to 1; empty where no driver reported it.
  TimeWeighted data_load{};
  /// Likewise of the second. Where both are one GPU, it is the same twice.
  TimeWeighted model_load{};
  /// The most that each GPU had in use, by all processes; none where no driver reported it.
  std::optional<Bytes> data_memory{}, model_memory{};
  /// The most that the training's process had of the machine's memory; 0: not known.
  Bytes process_memory{};
};

/// What else was measured of a training.
struct PhaseContext {
  std::vector<double> lengths{};  ///< frames of each step's batches; empty: not known
  std::string others{};           ///< other_programs_text; empty: the run was alone
};

/// Field note 002's profile, as its users know it.
///
/// TIMING BREAKDOWN by phase (mean, deviation, share of the time on the steps' path, then
/// least, most, p50 and p95), the gaps between data and training, GPU UTILIZATION of both devices, MEMORY at its most,
/// and the named rules that hold, with what was measured and no advice, or NO MAJOR BOTTLENECKS DETECTED where there
/// was no other program either; then what two devices would gain at most over one.
///
/// Milliseconds have one digit, as the note's. Ends with a line end. Pure.
std::string phase_text(const StepPhases& phases, const PhaseDevices& devices, const PhaseContext& context = {});

}  // namespace tutti
