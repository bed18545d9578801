#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The processes that train one network together, each on its own part of the data. All call the same functions in the
/// same order; each call waits for the others. Throws what torch throws where one of them is lost. One thread.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Every element becomes its sum over all processes. tensor: contiguous, on the CPU or a card.
  virtual void sum(at::Tensor& tensor) = 0;
  /// What each process says, by rank.
  virtual std::vector<std::string> gather(const std::string& said) = 0;
};

/// Where the processes of a training meet.
struct MeetingPlace {
  int rank = 0;
  int ranks = 1;
  std::string address = "127.0.0.1";
  int port = 29500;
};

/// From torchrun's variables (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), else Slurm's (SLURM_PROCID, SLURM_NTASKS;
/// MASTER_ADDR too where there are several nodes); nothing where there is but one process.
Result<std::optional<MeetingPlace>> meeting_place();

/// Waits for all processes, up to five minutes. Over torch's c10d with Gloo; what lies on cards goes over torch's NCCL,
/// where all processes have a card of their own.
Result<std::unique_ptr<Peers>> meet(const MeetingPlace& place);

}  // namespace tutti
