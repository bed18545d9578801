#pragma once

#include <string>

#include "feed/recipe/whisper_recipe.h"
#include "model/formats/dims.h"

namespace tutti {

/// Puts a stored network's shape in the place of what a recipe says of new ones, so that the settings that are told and
/// kept are those of the training. Returns what was asked for and cannot be had, "width 512 (it has 384), ..."; empty:
/// nothing.
std::string take_stored_shape(WhisperRecipe& recipe, const WhisperDims& dims);

}  // namespace tutti
