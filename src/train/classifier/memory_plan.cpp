#include "train/classifier/memory_plan.h"

#include <algorithm>

#include "feed/labelled/labelled_batches.h"
#include "hub/memory_plan.h"

namespace tutti {
namespace {

constexpr std::int64_t kFloat = 4, kHalf = 2, kIndex = 8;  // bytes

/// What is handed to the ring of a segment: its features, or their row where the set is on the device; and its label.
std::int64_t ring_bytes(const ClassifierMemory& memory, bool set_on_gpu) {
  return (set_on_gpu ? kIndex : memory.row.value) + kIndex;
}

}  // namespace

Bytes activations_of(const ClassifierShape& s) {
  std::int64_t height = s.n_mels, width = s.frames, channels = s.channels, largest = 0;
  std::int64_t kept = kFloat * height * width;
  for (const auto& pool : s.pools) {
    const auto output = channels * height * width;
    largest = std::max(largest, output);
    kept += kFloat * output;
    const Grid window{std::min(pool[0], height), std::min(pool[1], width)};
    height /= window[0];
    width /= window[1];
    if (window != Grid{1, 1}) kept += (kFloat + kIndex) * channels * height * width;  // and where each maximum was
    channels *= 2;
  }
  const auto cells = channels / 2 * s.grid[0] * s.grid[1];
  kept += kFloat * 3 * (cells + s.hidden);  // of both droppings: what goes in, what stays, what comes out
  return Bytes{kept + kFloat * largest};
}

ClassifierMemory classifier_memory(const ClassifierShape& shape, std::int64_t rows, std::int64_t parameters) {
  const Bytes row{kHalf * shape.n_mels * shape.frames};
  return {.set = Bytes{rows * row.value},
          .network = network_state(parameters, /*ema=*/true),
          .row = row,
          .activations = activations_of(shape)};
}

ClassifierPreset preset_for(Bytes gpu, const ClassifierMemory& memory, const ClassifierBatches& batches) {
  const auto free = std::max<std::int64_t>(0, gpu.value - kDriverMemory.value);
  const bool set_on_gpu = static_cast<double>(memory.set.value) <= kSetShare * static_cast<double>(free);
  const auto wanted = batch_of(batches.rows, batches.batch_size, batches.least_steps);
  constexpr std::int64_t kMultiple = 64;
  return {.set_on_gpu = set_on_gpu,
          .batch = fit_batch(gpu,
                             {.fixed = Bytes{memory.network.value + (set_on_gpu ? memory.set.value : 0)},
                              .ring_sample = Bytes{ring_bytes(memory, set_on_gpu)},
                              .activations = memory.activations},
                             {.ring_depth = batches.ring_depth, .multiple = kMultiple, .most = wanted})};
}

}  // namespace tutti
