#pragma once

#include <string>

#include "base/units.h"
#include "hub/model_shape.h"

namespace tutti {

struct MemoryQuestion {
  ModelShape shape{};
  std::string device{};             // as people call it
  Bytes available{};                // on it
  std::int32_t windows = 8;         // decoded together
  std::int32_t beams = 1;           // each
  std::int32_t text_positions = 0;  // tokens of a sequence, as memory_plan's
  std::int32_t fillers = 0;         // sequences beside, of no window: kFixedRows with --deterministic
  bool gpu = false;
  bool byte_cross = false;  // int8 keeps windows in eight bits there
};

/// What a run needs of its device's memory, a line per compute type of the device: the arithmetic of hub/memory_plan.h.
std::string memory_table(const MemoryQuestion& question);

/// The same as one event: {"event": "memory", ..., "compute_types": [{compute_type, ..., fit}]} and a line break.
std::string memory_json(const MemoryQuestion& question);

}  // namespace tutti
