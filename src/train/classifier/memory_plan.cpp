#include "train/classifier/memory_plan.h"

#include <algorithm>

#include "feed/labelled/labelled_batches.h"
#include "hub/memory_plan.h"

namespace tutti {
namespace {

constexpr std::int64_t kFloat = 4, kHalf = 2, kIndex = 8;  // bytes
constexpr std::int64_t kStates = 5;  // of each weight: itself, gradient, average, AdamW's mean and mean of squares

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
          .network = Bytes{kStates * kFloat * parameters},
          .row = row,
          .activations = activations_of(shape)};
}

ClassifierPreset preset_for(Bytes gpu, const ClassifierMemory& memory, const ClassifierBatches& batches) {
  const auto free = std::max<std::int64_t>(0, gpu.value - kDriverMemory.value);
  ClassifierPreset preset{.set_on_gpu = static_cast<double>(memory.set.value) <= kSetShare * static_cast<double>(free)};
  const auto fixed = memory.network.value + (preset.set_on_gpu ? memory.set.value : 0);
  const auto in_ring = (batches.ring_depth + 1) * ring_bytes(memory, preset.set_on_gpu);
  constexpr std::int64_t kMultiple = 64;
  const auto fit = std::max<std::int64_t>(0, free - fixed) / (memory.activations.value + in_ring);
  preset.largest_batch = fit < kMultiple ? fit : fit / kMultiple * kMultiple;
  preset.batch_size = std::min(preset.largest_batch, batch_of(batches.rows, batches.batch_size, batches.least_steps));
  preset.ring = Bytes{preset.batch_size * in_ring};
  preset.activations = Bytes{preset.batch_size * memory.activations.value};
  preset.total = Bytes{kDriverMemory.value + fixed + preset.ring.value + preset.activations.value};
  return preset;
}

}  // namespace tutti
