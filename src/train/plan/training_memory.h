#pragma once

#include <cstdint>

#include "base/units.h"

namespace tutti {

/// What a training holds on its device, counted in parts.
struct CountedMemory {
  Bytes fixed{};        ///< whatever the batch: network_state(), and a set that is kept there
  Bytes ring_sample{};  ///< one sample of a batch that is ready, or at work in the step
  Bytes activations{};  ///< most that a step holds of one sample beside that
};

/// Weights in float32, their gradients and AdamW's two averages; with `ema`, the averages of the weights, too. Pure.
Bytes network_state(std::int64_t parameters, bool ema);

/// What a plan supposes of a sample that was computed: more by the share by which a dry run held more than was computed
/// for it. Pure.
Bytes verified(Bytes sample, Bytes held, Bytes computed);

/// Share of a GPU's memory that a recommended batch leaves free.
inline constexpr double kSpareMemory = 0.15;

/// What a batch is chosen by.
struct BatchLimits {
  std::int64_t ring_depth = 3;  ///< batches that are ready beside that of the step
  std::int64_t multiple = 1;    ///< batches above it are a multiple of this
  std::int64_t most = 0;        ///< samples that are wanted; 0: as many as fit
};

/// A batch, and what it takes of the memory of a GPU.
struct FittedBatch {
  std::int64_t batch_size = 0;     ///< 0: not even one sample fits
  std::int64_t largest_batch = 0;  ///< that the memory holds
  /// The largest power of two that leaves kSpareMemory of the memory free, and is no more than is wanted: lengths vary,
  /// and other programs take some. Where none does, 1 that fits, or 0.
  std::int64_t recommended_batch = 0;
  Bytes ring{};
  Bytes activations{};
  Bytes total{};  ///< with the fixed part, and kDriverMemory
};

/// The batch for a GPU with so much memory, of which the driver keeps kDriverMemory. Pure.
FittedBatch fit_batch(Bytes gpu, const CountedMemory& memory, const BatchLimits& limits);

}  // namespace tutti
