#include <vector>

#include "recipe/recipe_file.h"
#include "recipe/recipe_text.h"
#include "recipe/tts_fields.h"
#include "recipe/value_checks.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::one_of;

// What decides which clips a batch holds, and the network's shape.
constexpr std::string_view kBinding[] = {"train-data",    "model",          "model-size", "width", "encoder-layers",
                                         "decoder-width", "decoder-layers", "batch-size", "ema",   "seed"};

std::vector<Result<void>> value_checks_of(const TtsRecipe& r) {
  return {
      one_of("model-size", r.model_size, {"nano", "tiny", "small", "normal", "big"}),
      between("width", r.width, 0, 8192),
      between("encoder-layers", r.encoder_layers, 0, 100),
      between("decoder-width", r.decoder_width, 0, 8192),
      between("decoder-layers", r.decoder_layers, 0, 100),
      between("batch-size", r.batch_size, 1, 1 << 16),
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
    return fail(Fault::usage, "train-data: nothing to learn is named", "Name a set with --train-data");
  return {};
}

}  // namespace tutti
