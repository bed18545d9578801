#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tutti {

/// What a stage needs while it works on an item.
enum class StageResource {
  cpu,     ///< one of the pipeline's cores
  io,      ///< nothing that others could want: it waits for a disk, a network, a timer
  device,  ///< the stage's own device, which takes one item at a time however many threads the stage has
};

/// "cpu", "io", "device", as pipeline files and reports write them.
constexpr std::string_view name_of(StageResource resource) {
  constexpr std::string_view kNames[] = {"cpu", "io", "device"};
  return kNames[static_cast<std::size_t>(resource)];
}

/// How long one item takes in a stage. A stall is kept apart, because no change of the stage's speed makes it shorter.
struct ItemTime {
  Seconds work{};
  Seconds stall{};
};

/// A stage as the replay sees it. Copies share the times.
struct StageModel {
  std::string name;
  StageResource resource = StageResource::cpu;
  int threads = 1;        ///< at least 1
  std::size_t queue = 1;  ///< items that may wait behind it; 0: an item waits in its thread for one of the next stage
  double speed = 1;       ///< times as fast as `times`; stalls stay
  std::shared_ptr<const std::vector<ItemTime>> times{};  ///< item k takes entry k modulo their number; not empty
  /// Of a stage of kind cpu: the share of an item's time in which it holds a core. First it waits for something else,
  /// as a disk.
  double on_core = 1;
  /// Of a device's stage: the share of its time in which its thread had no core, as other threads of the run held them.
  double core_wait = 0;
  std::string threads_flag{};  ///< stages with the same one, not empty, get as many threads as one another from it

  Seconds service(std::size_t item) const { return of(item).work / speed + of(item).stall; }
  Seconds stall(std::size_t item) const { return of(item).stall; }
  const ItemTime& of(std::size_t item) const { return (*times)[item % times->size()]; }
};

/// A pipeline in a line: a source that never runs dry, `stages` with a bounded queue between each two, and an end that
/// takes everything at once. Plain data.
struct PipelineModel {
  int cores = 1;  ///< what all stages with StageResource::cpu share, first come, first served
  std::vector<StageModel> stages{};
};

/// The index of the stage with that name; the number of stages where there is none.
inline std::size_t stage_index(const PipelineModel& pipeline, std::string_view name) {
  const auto found = std::ranges::find(pipeline.stages, name, &StageModel::name);
  return static_cast<std::size_t>(found - pipeline.stages.begin());
}

/// Whether the threads of both are one setting: it is one stage, or one flag sets both.
inline bool is_set_with(const StageModel& a, const StageModel& b) {
  return a.name == b.name || (!a.threads_flag.empty() && a.threads_flag == b.threads_flag);
}

/// The mean time of an item in the stage, over all items that it has times of.
inline Seconds mean_service(const StageModel& stage) {
  Seconds sum{};
  for (std::size_t i = 0; i < stage.times->size(); ++i) sum += stage.service(i);
  return sum / static_cast<double>(stage.times->size());
}

}  // namespace tutti
