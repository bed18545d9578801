#pragma once

#include <span>
#include <string>
#include <vector>

#include "report.h"

namespace tutti {

/// A check that is a program of its own: it prints its findings and exits with 0, or with 1 where one of them failed.
struct CheckApart {
  std::string name{};
  std::vector<std::string> command{};
};

/// Runs one after the other, on our terminal. What an error leaves of a card, or of a process, is gone with the process
/// it happened in (CUDA errors are sticky), so that the next check tells the truth about itself. How a check failed
/// that did not come to say so is a finding of `report`.
void run_apart(Report& report, std::span<const CheckApart> checks);

}  // namespace tutti
