#pragma once

#include <string>

#include "model/formats/dims.h"
#include "recipe/whisper_recipe.h"

namespace tutti {

/// Replaces a recipe's shape of new networks by a stored network's, so that the settings that are reported and kept are
/// those of the training. Returns what was requested and cannot be had, "width 512 (it has 384), ..."; empty: nothing.
std::string take_stored_shape(WhisperRecipe& recipe, const WhisperDims& dims);

}  // namespace tutti
