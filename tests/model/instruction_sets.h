#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "model/cpu/instructions.h"

namespace tutti {

/// The sets that kernels are compiled to and this processor has, oldest first.
inline std::vector<Instructions> sets_of_this_processor() {
  std::vector<Instructions> sets;
  for (const auto set : {Instructions::avx2, Instructions::avx512, Instructions::dot512, Instructions::amx})
    if (set <= best_instructions()) sets.push_back(set);
  return sets;
}

}  // namespace tutti

/// Skips the test where this processor lacks the instructions: "another machine" is what tools/run_tests.py knows it
/// by.
#define TUTTI_NEEDS_INSTRUCTIONS(set) \
  if (tutti::best_instructions() < (set)) GTEST_SKIP() << "another machine: this processor lacks the instructions"
