#pragma once

#include "base/error.h"
#include "recipe/classifier_recipe.h"
#include "recipe/tts_recipe.h"
#include "recipe/whisper_recipe.h"

namespace tutti {

/// Fault::usage for values that cannot be intended, each by itself or together.
Result<void> check_recipe(const WhisperRecipe& recipe);
Result<void> check_recipe(const ClassifierRecipe& recipe);
Result<void> check_recipe(const TtsRecipe& recipe);

}  // namespace tutti
