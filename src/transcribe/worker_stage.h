#pragma once

#include <string_view>

#include "flow/report.h"
#include "metrics/histogram.h"
#include "transcribe/events.h"

namespace tutti {

/// A stage that no pipeline has, with `threads` that took these times for items. It hands each on at once.
StageReport measured_stage(const char* name, HistogramSnapshot service, int threads);

/// The stage whose threads wait for a device is as slow as the device and all that waits there make it. So tuning needs
/// what the device itself takes for an item, and what such a thread computes: two stages that no pipeline has. Any
/// thread.
class WorkerStage {
 public:
  /// The stage of what the waiting threads compute.
  static constexpr const char* kFeatures = "features";
  /// The stage of what the device does.
  static constexpr const char* kDevice = "device";

  /// An item has passed: by the worker's own times.
  void note(const TimeSpent& spent);

  /// Adds both stages: `kFeatures` with the threads of the stage `waiting`, `kDevice` with `devices`.
  void add_to(PipelineReport& report, std::string_view waiting, int devices) const;

 private:
  Histogram features_{};
  Histogram device_{};
};

}  // namespace tutti
