#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "feed/recipe/classifier_recipe.h"
#include "train/trainer.h"

namespace tutti {

/// The arguments of `tutti-engine train classifier`.
struct ClassifierTraining {
  ClassifierRecipe recipe{};
  std::filesystem::path out{};
  bool resume = false;
  std::string settings{};  // the recipe's text: OUT/config.toml once the training is accepted
};

/// Trains from start to end on SET/TRAINING_DATASET.H5; SET/VALIDATION_DATASET.H5 chooses the best network. Errors and
/// results as train_whisper.
Result<TrainingEnd> train_classifier(ClassifierTraining training);

}  // namespace tutti
