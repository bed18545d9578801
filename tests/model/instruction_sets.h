#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/instruction_sets.h"

namespace tutti {

/// A set that kernels are compiled to and this processor has, with those below it.
struct NamedSets {
  Instructions most = Instructions::none;
  InstructionSets sets{};

  std::string name() const { return std::string(name_of(most)); }
};

/// All of them, in their order, AVX2 first.
inline std::vector<NamedSets> sets_of_this_processor() {
  std::vector<NamedSets> sets;
  for (const auto most : processor_instructions().all()) sets.push_back({most, processor_instructions().up_to(most)});
  return sets;
}

}  // namespace tutti

/// Skips the test where kernels may not use the instructions: "another machine" is what tools/run_tests.py knows it by.
#define TUTTI_NEEDS_INSTRUCTIONS(set) \
  if (!tutti::usable_instructions().has(set)) GTEST_SKIP() << "another machine: this processor lacks the instructions"
