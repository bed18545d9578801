#include <vector>

#include "base/field_names.h"
#include "recipe/recipe_file.h"
#include "recipe/recipe_text.h"
#include "recipe/value_checks.h"
#include "recipe/vocoder_recipe.h"

namespace tutti {
namespace {

using value_checks::between;

// What decides which clips a batch holds, and the network's shape.
constexpr std::string_view kBinding[] = {"train-data", "voice", "width", "layers", "batch-size", "ema", "seed"};

std::vector<Result<void>> value_checks_of(const VocoderRecipe& r) {
  return {
      between("width", r.width, 1, 8192),
      between("layers", r.layers, 1, 100),
      between("batch-size", r.batch_size, 1, 1 << 16),
      between("ema", r.ema, 0, 0.999999),
  };
}

}  // namespace

Result<VocoderRecipe> read_vocoder_recipe(std::string_view toml, const std::string& file_name, VocoderRecipe recipe) {
  return recipe_text::read(toml, file_name, std::move(recipe), "tutti train vocoder");
}

std::string show_recipe(VocoderRecipe recipe) {
  return recipe_text::show(std::move(recipe));
}

std::string binding_differences(VocoderRecipe now, VocoderRecipe before) {
  return recipe_text::differences(std::move(now), std::move(before), kBinding);
}

Result<void> check_recipe(const VocoderRecipe& recipe) {
  if (auto checked = value_checks::first_fault(recipe, value_checks_of(recipe)); !checked) return checked;
  if (recipe.train_data.empty())
    return fail(Fault::usage, "train-data: nothing to learn is named", "Name a set with " + field("train_data"));
  return {};
}

}  // namespace tutti
