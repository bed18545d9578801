#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "hub/model_shape.h"

namespace tutti {

/// Bytes of one number of each kind.
struct NumberSizes {
  std::int64_t weight = 4;  // of the linear layers
  std::int64_t other = 4;   // embeddings, norms, convolutions
  std::int64_t cross = 4;   // cross-attention keys and values, once a window
  std::int64_t self = 4;    // self-attention keys and values, once a token and sequence
};

/// Of a compute type as --compute-type names it; nothing for one that is unknown. "auto" is unknown.
std::optional<NumberSizes> number_sizes(std::string_view compute_type);

/// What a model takes on its device.
struct MemoryPlan {
  Bytes weights{};
  Bytes window{};     // keys and values of one window's cross-attention
  Bytes sequence{};   // keys and values of one sequence at full length, and its logits
  Bytes workspace{};  // what one encoding holds on the way

  /// With so many windows held, each with so many beams.
  Bytes total(std::int64_t windows, std::int64_t beams) const;
};

/// Pure arithmetic over the shape. What a driver keeps for itself is not in it (half a GB of a GPU).
MemoryPlan memory_plan(const ModelShape& shape, const NumberSizes& sizes);

/// Most windows with so many beams each that fit into `available` beside the weights; 0 where not even one does.
std::int64_t windows_that_fit(const MemoryPlan& plan, Bytes available, std::int64_t beams);

}  // namespace tutti
