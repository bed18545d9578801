#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "advise/diagnosis.h"

namespace tutti {

/// What a run would gain if one stage worked twice as fast: by replay, and as an experiment measured it
/// (flow/virtual_clock.h).
struct StageExperiment {
  std::string stage;
  std::optional<Fix> predicted{};  ///< none: the replay does not explain the run
  double measured = 0;             ///< items a second, delays left out
};

/// Plain data.
struct Experiments {
  std::string unit{"items"};
  double rate = 0;       ///< items a second, as the run is
  double cpu_stall = 0;  ///< share of the time in which programs waited for a processor, which counts as work
  std::vector<StageExperiment> stages{};
};

/// A table of the stages, behind a line that explains it: gains as predicted, with their range, and as measured. Where
/// programs waited for a processor 20 % of the time or more, it adds that gains may come out too large.
std::string experiments_text(const Experiments& experiments);

/// An array with stage, measured_items_per_s, measured_gain and, where the replay explains the run,
/// predicted_items_per_s, low, high and predicted_gain of each. Gains are shares: 0.5 is half as fast again.
nlohmann::ordered_json experiments_json(const Experiments& experiments);

}  // namespace tutti
