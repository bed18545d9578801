#include "base/process/process_rank.h"

#include <algorithm>
#include <string>

#include "base/environment.h"
#include "base/try.h"

namespace tutti {

Result<ProcessRank> process_rank() {
  const bool torchrun = variable("WORLD_SIZE").has_value();
  if (!torchrun && !variable("SLURM_NTASKS")) return ProcessRank{};
  const auto ranks = TRY(number_variable(torchrun ? "WORLD_SIZE" : "SLURM_NTASKS", 1));
  if (ranks == 1) return ProcessRank{};
  const char* named = torchrun ? "RANK" : "SLURM_PROCID";
  const auto rank = TRY(number_variable(named, 0));
  if (rank >= ranks)
    return fail(Fault::usage, std::string(named) + " is " + std::to_string(rank) + " of " + std::to_string(ranks));
  return ProcessRank{rank, ranks};
}

int ranks_here() {
  const int ranks = process_rank().value_or(ProcessRank{}).ranks;
  if (const auto local = number_variable("LOCAL_WORLD_SIZE", 1)) return std::min(*local, ranks);
  if (!variable("WORLD_SIZE")) {
    const int nodes = number_variable("SLURM_JOB_NUM_NODES", 1).value_or(1);
    return (ranks + nodes - 1) / nodes;
  }
  const auto address = variable("MASTER_ADDR").value_or("127.0.0.1");
  return address == "127.0.0.1" || address == "localhost" ? ranks : 1;
}

}  // namespace tutti
