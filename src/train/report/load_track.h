#pragma once

#include <memory>
#include <optional>

#include "metrics/time_weighted.h"
#include "train/report/machine_line.h"

namespace tutti {

/// The load of the machine over a stretch of a training, weighted by time. Time between the steps (an evaluation, a
/// checkpoint) hardly counts. One thread.
class LoadTrack {
 public:
  /// `gpu`: N of cuda:N; none: a training on the CPU.
  explicit LoadTrack(std::optional<int> gpu) : gpu_(gpu) {}

  /// Takes a snapshot in, once. To be called at every step.
  void take(const std::shared_ptr<const MachineSnapshot>& snapshot);
  /// Mean loads; of memory the last value.
  MachineLoad load() const;
  /// The GPU's utilisation, 0 to 1; empty where none reports it.
  const TimeWeighted& gpu() const { return gpu_load_; }

 private:
  std::optional<int> gpu_;
  std::shared_ptr<const MachineSnapshot> last_{};
  TimeWeighted gpu_load_{};
  TimeWeighted cpu_load_{};
};

/// Processor time so far of the threads that launch the work of steps: the calling one, which must be the training's,
/// and torch's own for the backward pass. On a processor that computes the steps itself it is the time of that, too.
Seconds launch_time();

}  // namespace tutti
