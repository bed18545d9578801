#pragma once

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
