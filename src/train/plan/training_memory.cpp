#include "train/plan/training_memory.h"

#include <algorithm>
#include <cmath>

#include "hub/memory_plan.h"

namespace tutti {

Bytes network_state(std::int64_t parameters, bool ema) {
  constexpr std::int64_t kFloat = 4, kCopies = 4;  // weight, gradient, AdamW's mean and mean of squares
  return Bytes{kFloat * parameters * (kCopies + (ema ? 1 : 0))};
}

Bytes verified(Bytes sample, Bytes held, Bytes computed) {
  const auto share = static_cast<double>(held.value) / static_cast<double>(std::max<std::int64_t>(1, computed.value));
  return Bytes{std::llround(static_cast<double>(sample.value) * std::max(1.0, share))};
}

FittedBatch fit_batch(Bytes gpu, const CountedMemory& memory, const BatchLimits& limits) {
  const auto in_ring = (limits.ring_depth + 1) * memory.ring_sample.value;
  const auto free = std::max<std::int64_t>(0, gpu.value - kDriverMemory.value - memory.fixed.value);
  const auto fit = free / (memory.activations.value + in_ring);
  FittedBatch batch{.largest_batch = fit < limits.multiple ? fit : fit / limits.multiple * limits.multiple};
  batch.batch_size = limits.most > 0 ? std::min(limits.most, batch.largest_batch) : batch.largest_batch;
  const auto spare = std::llround(kSpareMemory * static_cast<double>(gpu.value));
  const auto with_spare = std::max<std::int64_t>(0, free - spare) / (memory.activations.value + in_ring);
  const auto roomy =
      std::clamp<std::int64_t>(with_spare, std::min<std::int64_t>(1, batch.batch_size), batch.batch_size);
  for (std::int64_t batches = 1; batches <= roomy; batches *= 2) batch.recommended_batch = batches;
  batch.ring = Bytes{batch.batch_size * in_ring};
  batch.activations = Bytes{batch.batch_size * memory.activations.value};
  batch.total = Bytes{kDriverMemory.value + memory.fixed.value + batch.ring.value + batch.activations.value};
  return batch;
}

}  // namespace tutti
