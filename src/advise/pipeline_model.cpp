#include "advise/pipeline_model.h"

#include <algorithm>

namespace tutti {

std::string_view name_of(StageResource resource) {
  switch (resource) {
    case StageResource::cpu: return "cpu";
    case StageResource::io: return "io";
    case StageResource::device: break;
  }
  return "device";
}

std::size_t stage_index(const PipelineModel& pipeline, std::string_view name) {
  const auto& stages = pipeline.stages;
  const auto found = std::ranges::find(stages, name, &StageModel::name);
  return static_cast<std::size_t>(found - stages.begin());
}

}  // namespace tutti
