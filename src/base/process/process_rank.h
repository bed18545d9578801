#pragma once

#include "base/error.h"

namespace tutti {

/// Which of several processes that do one thing together this is, where somebody else starts them.
struct ProcessRank {
  int rank = 0;
  int ranks = 1;
};

/// By torchrun's variables (RANK, WORLD_SIZE), else Slurm's (SLURM_PROCID, SLURM_NTASKS). Fault::usage for values that
/// cannot be meant.
Result<ProcessRank> process_rank();

}  // namespace tutti
