// The checks of the recipes of voices and of their vocoders.

#include <vector>

#include "base/field_names.h"
#include "recipe/recipe_file.h"
#include "recipe/tts_fields.h"
#include "recipe/value_checks.h"
#include "recipe/vocoder_recipe.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::kMany;

/// Waveforms are changed where spectrograms are computed of them.
Result<void> augmented_by(const TtsRecipe& r) {
  if (!r.data.gpu.empty() ||
      (r.augmentation.speed_share == 0 && r.augmentation.noise_share == 0 && r.augmentation.room_share == 0))
    return {};
  return fail(
      Fault::usage,
      "speed-share, noise-share, room-share: clips are changed where spectrograms are computed in the training, "
      "and no device for that is named",
      "Name one with " + field("data_gpu") + ", such as model or cpu");
}

Result<void> limited_on(const TtsRecipe& r) {
  if (!r.data.gpu.empty() || r.data.gpu_memory == 0) return {};
  return fail(Fault::usage, "data-gpu-memory: no data device is named", "Name one with " + field("data_gpu"));
}

std::vector<Result<void>> value_checks_of(const TtsRecipe& r) {
  return {
      between("width", r.network.width, 0, 8192),
      between("encoder-layers", r.network.encoder_layers, 0, 100),
      between("decoder-width", r.network.decoder_width, 0, 8192),
      between("decoder-layers", r.network.decoder_layers, 0, 100),
      between("batch-size", r.batches.size, 1, 1 << 16),
      between("speed-share", r.augmentation.speed_share, 0, 1),
      between("noise-share", r.augmentation.noise_share, 0, 1),
      between("noise-least-db", r.augmentation.noise_least_db, -20, 200),
      between("noise-most-db", r.augmentation.noise_most_db, r.augmentation.noise_least_db, 200),
      between("room-share", r.augmentation.room_share, 0, 1),
      between("data-gpu-memory", r.data.gpu_memory, 0, kMany),
      between("dropout", r.network.dropout, 0, 0.95),
      augmented_by(r),
      limited_on(r),
      between("ema", r.optimiser.ema, 0, 0.999999),
  };
}

std::vector<Result<void>> value_checks_of(const VocoderRecipe& r) {
  return {
      between("width", r.network.width, 1, 8192),
      between("layers", r.network.layers, 1, 100),
      between("batch-size", r.batches.size, 1, 1 << 16),
      between("ema", r.optimiser.ema, 0, 0.999999),
  };
}

template <class Recipe>
Result<void> check_voice_recipe(const Recipe& recipe) {
  TRY(value_checks::first_fault(recipe, value_checks_of(recipe)));
  if (!recipe.data.train_data.empty()) return {};
  return fail(Fault::usage, "train-data: nothing to learn is named", "Name a set with " + field("train_data"));
}

}  // namespace

Result<void> check_recipe(const TtsRecipe& recipe) {
  return check_voice_recipe(recipe);
}

Result<void> check_recipe(const VocoderRecipe& recipe) {
  return check_voice_recipe(recipe);
}

}  // namespace tutti
