#pragma once

#include <cstdint>

#include "base/units.h"
#include "train/classifier/network.h"
#include "train/plan/training_memory.h"

namespace tutti {

/// Memory of a classifier's training on its device.
struct ClassifierMemory {
  Bytes set{};          ///< features of the whole set
  Bytes network{};      ///< weights, their gradients and averages, AdamW's two means
  Bytes row{};          ///< one segment's features
  Bytes activations{};  ///< most that a step holds of a segment
};

/// What a step holds of one segment at most, in float32: what the backward pass needs of every layer, and the largest
/// layer's gradient beside that. Pure.
Bytes activations_of(const ClassifierShape& shape);

/// Pure. `rows`: segments of the set; `parameters`: of the network.
ClassifierMemory classifier_memory(const ClassifierShape& shape, std::int64_t rows, std::int64_t parameters);

/// The sizes that a training is planned with.
struct ClassifierBatches {
  std::int64_t rows = 0;  ///< segments of the set
  std::int64_t batch_size = 8192;
  std::int64_t least_steps = 20;  ///< of an epoch
  std::int64_t ring_depth = 3;
};

/// What a GPU is planned for.
struct ClassifierPreset {
  bool set_on_gpu = false;  ///< else each batch is gathered by the host
  FittedBatch batch{};
};

/// The preset of a GPU with so much memory. Pure.
ClassifierPreset preset_for(Bytes gpu, const ClassifierMemory& memory, const ClassifierBatches& batches);

/// The share of a GPU's free memory up to which the set is kept there (ClassifierTask).
inline constexpr double kSetShare = 0.8;

}  // namespace tutti
