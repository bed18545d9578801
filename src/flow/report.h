#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "flow/queue_limits.h"
#include "flow/stage_clock.h"
#include "metrics/histogram.h"
#include "metrics/phase_times.h"

namespace tutti {

/// What one stage has done so far. Plain data.
struct StageReport {
  std::string name;
  StageThreads threads;         ///< by what they do at this moment
  StageTimes times;             ///< time of all threads the stage ever had, until this moment
  std::uint64_t items_in = 0;   ///< taken from the input; 0 for a source
  std::uint64_t items_out = 0;  ///< handed on, or kept for their turn; 0 for a sink
  std::uint64_t failed = 0;
  HistogramSnapshot service;  ///< seconds busy per input item (per call for a source), failed ones included
  QueueLevel output;          ///< what waits for the next stage; all zero for a sink
};

/// The stage's times in the form that all phases of runs have; a source's calls count as its items.
inline PhaseTimes times_of(const StageReport& stage) {
  return {.name = stage.name,
          .busy = stage.times.busy,
          .waiting = stage.times.starved,
          .blocked = stage.times.blocked,
          .count = stage.service.count};
}

/// What a pipeline has done so far, stages in the order they were added. Plain data.
struct PipelineReport {
  std::chrono::nanoseconds elapsed{};  ///< since start, up to the end of the last stage
  std::vector<StageReport> stages;
};

}  // namespace tutti
