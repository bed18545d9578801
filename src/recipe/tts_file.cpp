#include <vector>

#include "base/field_names.h"
#include "recipe/recipe_file.h"
#include "recipe/recipe_text.h"
#include "recipe/tts_fields.h"
#include "recipe/value_checks.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::kMany;
using value_checks::one_of;

// What decides which clips a batch holds, and the network's shape.
constexpr std::string_view kBinding[] = {
    "train-data", "model",         "model-size", "width", "encoder-layers", "decoder-width", "decoder-layers",
    "batch-size", "static-shapes", "ema",        "seed"};

/// Waveforms are changed where spectrograms are computed of them.
Result<void> augmented_by(const TtsRecipe& r) {
  if (!r.data_gpu.empty() || (r.speed_share == 0 && r.noise_share == 0 && r.room_share == 0)) return {};
  return fail(
      Fault::usage,
      "speed-share, noise-share, room-share: clips are changed where spectrograms are computed in the training, "
      "and no device for that is named",
      "Name one with " + field("data_gpu") + ", such as model or cpu");
}

Result<void> limited_on(const TtsRecipe& r) {
  if (!r.data_gpu.empty() || r.data_gpu_memory == 0) return {};
  return fail(Fault::usage, "data-gpu-memory: no data device is named", "Name one with " + field("data_gpu"));
}

std::vector<Result<void>> value_checks_of(const TtsRecipe& r) {
  return {
      one_of("model-size", r.model_size, {"nano", "tiny", "small", "normal", "big"}),
      between("width", r.width, 0, 8192),
      between("encoder-layers", r.encoder_layers, 0, 100),
      between("decoder-width", r.decoder_width, 0, 8192),
      between("decoder-layers", r.decoder_layers, 0, 100),
      between("batch-size", r.batch_size, 1, 1 << 16),
      between("speed-share", r.speed_share, 0, 1),
      between("noise-share", r.noise_share, 0, 1),
      between("noise-least-db", r.noise_least_db, -20, 200),
      between("noise-most-db", r.noise_most_db, r.noise_least_db, 200),
      between("room-share", r.room_share, 0, 1),
      between("data-gpu-memory", r.data_gpu_memory, 0, kMany),
      between("dropout", r.dropout, 0, 0.95),
      augmented_by(r),
      limited_on(r),
      between("ema", r.ema, 0, 0.999999),
  };
}

}  // namespace

Result<TtsRecipe> read_tts_recipe(std::string_view toml, const std::string& file_name, TtsRecipe recipe) {
  return recipe_text::read(toml, file_name, std::move(recipe), "tutti train tts");
}

std::string show_recipe(TtsRecipe recipe) {
  return recipe_text::show(std::move(recipe));
}

std::string binding_differences(TtsRecipe now, TtsRecipe before) {
  return recipe_text::differences(std::move(now), std::move(before), kBinding);
}

Result<void> check_recipe(const TtsRecipe& recipe) {
  if (auto checked = value_checks::first_fault(recipe, value_checks_of(recipe)); !checked) return checked;
  if (recipe.train_data.empty())
    return fail(Fault::usage, "train-data: nothing to learn is named", "Name a set with " + field("train_data"));
  return {};
}

}  // namespace tutti
