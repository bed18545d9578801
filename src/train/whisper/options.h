#pragma once

#include <c10/core/Device.h>

#include "feed/recipe/whisper_recipe.h"
#include "model/formats/dims.h"
#include "train/optimiser_step/step.h"
#include "train/peers/peers.h"
#include "train/trainer.h"
#include "train/whisper/task.h"

namespace tutti {

/// The steps by a recipe. `peers`: who train along, or null; both are to outlast the step.
TrainStep step_of(WhisperTask& task, const WhisperRecipe& recipe, Peers* peers);

/// The trainer's options by a recipe, for a network of that shape: all that is the recipe's own.
TrainerOptions options_of(const WhisperRecipe& recipe, const WhisperDims& dims);

/// Warns of a precision that the device computes in another way. Such a training comes out right, and nothing but its
/// speed would tell.
void tell_of_precision(c10::Device device, const WhisperRecipe& recipe);

}  // namespace tutti
