#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// One step as StepMonitor sees it.
struct MonitoredStep {
  std::int64_t step = 0;    ///< its number in the whole training, from 1
  Seconds time{};           ///< of all of it, the wait included
  Seconds waited{};         ///< part of `time`, for its batch
  Seconds processor{};      ///< that all threads of the process took in it
  std::int64_t frames = 0;  ///< that the network computed, padding included; 0: not known
};

/// Memory of the training's process. What is not known is absent, and not shown.
struct TrainingMemory {
  std::optional<Bytes> host{};  ///< resident, without mapped files
  std::optional<Bytes> gpu{};   ///< of the network's GPU
};

/// The memory of this process as the kernel has it, without the GPU's.
TrainingMemory host_memory();

/// Watches the times and the memory of a training as field note 002 does: every 100 steps the mean, deviation, least
/// and most of their times and what memory has grown by since the first report. Times whose deviation is above 0.30 of
/// their mean are warned of with their cause: waits, unequal batches, or other programs on the processor. So is memory
/// that grew by more than the note's 200 MB of data (and 500 MB of the network, where that is in the same memory) or
/// 500 MB on a GPU. The first five steps of a process are left out: they allocate what later ones reuse. One thread.
class StepMonitor {
 public:
  /// `on_gpu`: the network is on a GPU, and host memory holds only what prepares its data.
  explicit StepMonitor(bool on_gpu) : on_gpu_(on_gpu) {}

  /// Whether the next step is the last of 100, and needs `memory` at `stepped`.
  bool is_due() const { return warm_up_ == 0 && steps_.size() + 1 == kSteps; }
  /// Takes a step in. Returns lines for people, after every 100th step; empty for any other.
  std::vector<std::string> stepped(const MonitoredStep& step, const TrainingMemory& memory);

 private:
  static constexpr std::size_t kSteps = 100;

  std::vector<std::string> memory_warnings(const TrainingMemory& memory);

  bool on_gpu_;
  int warm_up_ = 5;
  std::vector<MonitoredStep> steps_{};
  std::optional<TrainingMemory> first_{};  // at the first report: what growth is counted from
  TrainingMemory warned_{};                // at the latest warning, else the first report
};

}  // namespace tutti
