#pragma once

#include "base/error.h"

namespace tutti {

/// This process's rank among several that do one thing together, where another program starts them.
struct ProcessRank {
  int rank = 0;
  int ranks = 1;
};

/// By torchrun's variables (RANK, WORLD_SIZE), else Slurm's (SLURM_PROCID, SLURM_NTASKS). Fault::usage for values that
/// are not valid.
Result<ProcessRank> process_rank();

/// How many of them share this machine, this one included: LOCAL_WORLD_SIZE, else Slurm's tasks over its nodes, else
/// all of them where they meet on this machine. 1 where no variable is set.
int ranks_here();

}  // namespace tutti
