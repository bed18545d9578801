#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "report.h"

namespace tutti {

/// A check that is a program of its own: it prints its findings and exits with 0, or with 1 where one of them failed.
struct CheckApart {
  std::string name{};
  std::vector<std::string> command{};
};

/// All sizes in all types, on a slow GPU; a check that takes longer hangs.
inline constexpr Seconds kLongestCheck{4 * 3600};

/// Runs one after the other, on our terminal. What an error leaves of a GPU, or of a process, is gone with the process
/// it happened in (CUDA errors are sticky), so that the next check is not affected. How a check failed that did not
/// come to print it is a finding of `report`; one that takes longer than `longest` is killed.
void run_apart(Report& report, std::span<const CheckApart> checks, Seconds longest = kLongestCheck);

}  // namespace tutti
