#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "recipe/classifier_recipe.h"
#include "recipe/tts_recipe.h"
#include "recipe/vocoder_recipe.h"
#include "recipe/whisper_recipe.h"

namespace tutti {

// The recipes are WhisperRecipe, ClassifierRecipe, TtsRecipe and VocoderRecipe.

/// The TOML text over what `recipe` holds already. Strict: an unknown key is named with the nearest right one, a value
/// of another kind with what was expected. `file_name` names the text in errors.
template <class Recipe>
Result<Recipe> read_recipe(std::string_view toml, const std::string& file_name, Recipe recipe = {});

/// A recipe as text: the whole as TOML, which reads back as the same recipe, and its values by their keys.
struct RecipeText {
  std::string toml{};
  std::vector<std::string> keys{};
  std::vector<std::string> values{};
};
template <class Recipe>
RecipeText recipe_text(Recipe recipe);
template <class Recipe>
std::string show_recipe(Recipe recipe) {
  return recipe_text(std::move(recipe)).toml;
}

/// The keys whose values differ.
std::vector<std::string> changed_keys(const RecipeText& now, const RecipeText& before);

/// Where `now` differs in `keys`, which have spaces between: "batch-size 4 (it was 2), seed 3 (it was 1)". Empty:
/// nowhere.
std::string differences(const RecipeText& now, const RecipeText& before, std::string_view keys);
/// The same in what a resumed training may not change.
template <class Recipe>
std::string binding_differences(const Recipe& now, const Recipe& before) {
  return differences(recipe_text(now), recipe_text(before), Recipe::kBinding);
}

/// The names of the presets that a Whisper training may begin with: "whisper-small" has the defaults of field note
/// 004's script. Thread-safe.
std::vector<std::string> whisper_preset_names();
/// One of them as a recipe in TOML; a name that is none gives an empty text, which sets nothing. Thread-safe.
std::string whisper_preset(const std::string& name);

/// Fault::usage for values that cannot be intended, each by itself or together.
Result<void> check_recipe(const WhisperRecipe& recipe);
Result<void> check_recipe(const ClassifierRecipe& recipe);
Result<void> check_recipe(const TtsRecipe& recipe);
Result<void> check_recipe(const VocoderRecipe& recipe);

}  // namespace tutti
