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

/// How many of them share this machine, this one included: LOCAL_WORLD_SIZE, else Slurm's tasks over its nodes, else
/// all of them where they meet on this machine. 1 where nothing says.
int ranks_here();

}  // namespace tutti
