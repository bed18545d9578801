#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "feed/recipe/classifier_recipe.h"

namespace tutti {

/// As read_recipe, show_recipe and binding_differences of a Whisper recipe (recipe_file.h).
Result<ClassifierRecipe> read_classifier_recipe(std::string_view toml, const std::string& file_name,
                                                ClassifierRecipe recipe = {});
std::string show_recipe(ClassifierRecipe recipe);
std::string binding_differences(ClassifierRecipe now, ClassifierRecipe before);

/// Fault::usage for values that cannot be intended, each by itself or together.
Result<void> check_recipe(const ClassifierRecipe& recipe);

}  // namespace tutti
