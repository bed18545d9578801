#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transcribe/bench/limits.h"
#include "transcribe/bench/trial.h"

namespace tutti {

/// A trial with its score beside the others.
struct ScoredTrial {
  BenchTrial trial{};
  std::optional<double> word_errors{};     // word error rate against the first trial that ran; none: it did not run
  std::optional<double> share_of_limit{};  // least_time over the time it took; none: the limit is not known
};

struct BenchResult {
  std::vector<ScoredTrial> trials{};         // in the order they were run
  std::optional<std::size_t> reference{};    // whose words the others' are compared with: the first that ran
  std::optional<std::size_t> recommended{};  // the fastest whose transcript agrees; none: nothing ran
};

/// Words that may differ from the most exact setting's: half a point.
inline constexpr double kAgrees = 0.005;

/// `limits[i]` belongs to `trials[i]`. Texts are compared behind Whisper's basic normaliser.
BenchResult score_trials(const std::vector<BenchTrial>& trials, const std::vector<std::optional<DeviceLimits>>& limits);

/// The flags of `tutti transcribe` that run a setting.
std::string flags_of(const BenchSetting& setting);

}  // namespace tutti
