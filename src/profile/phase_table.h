#pragma once

#include <optional>
#include <string>

#include "advise/step_phases.h"
#include "metrics/time_weighted.h"

namespace tutti {

/// A training's devices for the note's table: what they are called, and their utilisation, 0 to 1, where it was
/// measured.
struct PhaseDevices {
  std::string data{"cpu"}, model{"cpu"};
  TimeWeighted data_load{}, model_load{};
};

/// Field note 002's profile: TIMING BREAKDOWN by phase (mean, deviation, share of the time on the steps' path, then
/// least, most, p50 and p95), the gaps between data and training, GPU UTILIZATION of both devices, and the named rules
/// that hold, or NO MAJOR BOTTLENECKS DETECTED; then what two devices would gain at most over one. Ends with a line
/// end.
std::string phase_text(const StepPhases& phases, const PhaseDevices& devices);

}  // namespace tutti
