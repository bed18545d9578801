#pragma once

#include <memory>
#include <string>
#include <vector>

#include "advise/item_draw.h"
#include "advise/pipeline_model.h"
#include "base/random/counter_random.h"

namespace tutti {

/// A stage whose items are drawn from `times`; milliseconds where a number has no unit.
inline StageModel drawn_stage(const std::string& name, StageResource resource, int threads, TimesDescription times,
                              std::size_t queue = 8) {
  return {.name = name,
          .resource = resource,
          .threads = threads,
          .queue = queue,
          .times = std::make_shared<std::vector<ItemTime>>(draw_items(times, 20000, digest(name)))};
}

/// A stage whose items all take `ms`.
inline StageModel even_stage(const std::string& name, StageResource resource, int threads, double ms,
                             std::size_t queue = 8) {
  return drawn_stage(name, resource, threads, {.mean = Seconds(ms / 1000)}, queue);
}

}  // namespace tutti
