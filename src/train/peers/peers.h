#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "train/peers/rank_monitor.h"

namespace tutti {

/// The processes that train one network together, each on its own part of the data. All call the same functions in the
/// same order; each call waits for the others. Throws what torch throws where one of them is lost. One thread.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Every element becomes its sum over all processes. tensor: contiguous, on the CPU or a GPU.
  virtual void sum(at::Tensor& tensor) = 0;
  /// Every process's value, by rank.
  virtual std::vector<std::string> gather(const std::string& own) = 0;
  /// Calls `work`, and waits for those who are still at theirs, however long, as long as they are alive. `doing`: what
  /// each does, for the line that names whom one waits for ("opens its data"). Errors: the work's own; Fault::device
  /// where another one's failed, or one is gone. Throws what `work` throws.
  virtual Result<void> run_and_wait(const std::string& doing, const std::function<Result<void>()>& work) = 0;
};

/// "process 3 of 4"
std::string name_of_process(int rank, int ranks);

/// Where the processes of a training meet.
struct Rendezvous {
  int rank = 0;
  int ranks = 1;
  std::string address = "127.0.0.1";
  int port = 29500;
};

/// From torchrun's variables (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), else Slurm's: SLURM_PROCID, SLURM_NTASKS;
/// the first node of several, and a port by the job's number, where MASTER_ADDR and MASTER_PORT do not say. Nothing
/// where there is but one process.
Result<std::optional<Rendezvous>> rendezvous();

/// The first host of Slurm's list of nodes: "gpu[03-05,9],login" begins with gpu03.
std::string first_host(std::string_view nodes);

/// `device`, but for "cuda" where this process is one of several on a machine and sees `visible` GPUs: then the GPU
/// of its own number there (LOCAL_RANK, SLURM_LOCALID), so that one command line serves all. Fault::usage for a number
/// that is none.
Result<std::string> device_of_process(const std::string& device, int visible);

/// Waits for all processes, up to five minutes. Over torch's c10d with Gloo; tensors on GPUs go over torch's NCCL,
/// where all processes have a GPU of their own.
Result<std::unique_ptr<Peers>> connect(const Rendezvous& rendezvous, WaitLimits limits = {});

}  // namespace tutti
