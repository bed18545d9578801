#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hub/memory_plan.h"
#include "hub/model_shape.h"
#include "planning/memory/device_memory.h"
#include "transcribe/bench.h"

namespace tutti {

/// What one setting of `tutti bench` will take of its device, by the arithmetic of hub/memory_plan.h: greedy, so one
/// sequence a window, and with --batched, so slots hold no earlier text.
struct BenchNeed {
  BenchSetting setting{};
  MemoryPlan plan{};
  Bytes together{};                  // with `setting.batch_size` windows, and those encoded ahead
  std::optional<Bytes> available{};  // none: the device is not there, or does not say

  bool fits() const { return available && together <= *available; }
};

/// `devices`: what is known of each device that the settings name; one that is missing there takes nothing for granted
/// and is reckoned as a GPU, or a CPU, by its name.
std::vector<BenchNeed> bench_needs(const ModelShape& shape, const std::vector<BenchSetting>& settings,
                                   const std::map<std::string, DeviceMemory>& devices);

/// A table per device: a line per compute type, a column per batch size.
std::string bench_needs_text(const std::vector<BenchNeed>& needs);

/// {"settings": [{device, compute_type, batch_size, weights_bytes, ..., fits}]} and a line break; what is not known is
/// null.
std::string bench_needs_json(const std::vector<BenchNeed>& needs);

}  // namespace tutti
