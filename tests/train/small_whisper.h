#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/whisper/task.h"

namespace tutti {

/// A Whisper that learns in milliseconds: 2 s windows, bytes for tokens.
inline WhisperRecipe small_recipe() {
  WhisperRecipe recipe;
  recipe.data.source = "unused";
  recipe.arithmetic.device = "cpu";
  recipe.network.width = 16;
  recipe.network.heads = 2;
  recipe.network.encoder_layers = 1;
  recipe.network.decoder_layers = 1;
  recipe.network.window_seconds = 2;
  recipe.network.text_context = 32;
  recipe.optimiser.learning_rate = 1e-2;
  recipe.optimiser.warmup_steps = 2;
  recipe.packing.window_share = 0;
  recipe.optimiser.schedule = "constant";
  recipe.arithmetic.seed = 7;
  return recipe;
}

inline std::unique_ptr<WhisperTask> small_task(const WhisperRecipe& recipe = small_recipe()) {
  return WhisperTask::start(recipe, {}).value();
}

/// A batch whose clips follow from `first`: sample first + i holds a pattern, and its text is the pattern's name.
inline Batch small_batch(std::int64_t first, std::int64_t size, std::int64_t frames = 40) {
  static BufferPool pool;
  Batch batch{.index = first, .n_mels = 80, .frames = frames};
  batch.content = pool.take(static_cast<std::size_t>(size * 80 * frames));
  for (std::int64_t i = 0; i < size; ++i) {
    const auto kind = (first + i) % 4;
    for (std::int64_t at = 0; at < 80 * frames; ++at)
      batch.row(i)[at] = static_cast<float>(std::sin(0.01 * static_cast<double>((at * (kind + 1) + first) % 997)));
    batch.samples.push_back({.id = "sample-" + std::to_string(first + i),
                             .text = std::string(1, static_cast<char>('a' + kind)) + "b",
                             .frames = static_cast<std::int32_t>(frames)});
  }
  batch.position = std::to_string(first + size);
  return batch;
}

/// Rows [first, first + count) of a batch.
inline TaskBatch rows_of(const TaskBatch& whole, std::int64_t first, std::int64_t count) {
  TaskBatch part;
  const auto ids = whole.ids.all();
  part.ids = RowIds({ids.begin() + first, ids.begin() + first + count});
  for (const auto& input : whole.inputs) part.inputs.push_back(input.narrow(0, first, count));
  part.frames.computed = count * part.inputs[0].size(2);
  part.targets = part.inputs[2].ne(kIgnoredTarget).sum().item<std::int64_t>();
  return part;
}

inline double largest_difference(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, (a[i].value.detach() - b[i].value.detach()).abs().max().item<double>());
  return most;
}

}  // namespace tutti
