#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "recipe/classifier_recipe.h"
#include "recipe/tts_recipe.h"
#include "recipe/vocoder_recipe.h"
#include "recipe/whisper_recipe.h"
#include "train/trainer.h"

namespace tutti {

/// The arguments of `tutti-engine train`.
template <class Recipe>
struct RecipeTraining {
  Recipe recipe{};
  std::filesystem::path model{};  // a Whisper's to start from, found already; empty: a new network
  std::filesystem::path out{};
  bool resume = false;
  std::string settings{};  // the recipe's text: OUT/config.toml once the training is accepted
};
using WhisperTraining = RecipeTraining<WhisperRecipe>;
using ClassifierTraining = RecipeTraining<ClassifierRecipe>;
using TtsTraining = RecipeTraining<TtsRecipe>;
using VocoderTraining = RecipeTraining<VocoderRecipe>;

/// Trains from start to end: feed, network, loop, checkpoints in OUT/checkpoints, the network in OUT/model. Shows its
/// progress on standard error. Fault::usage where OUT holds a training that is not to be continued, Fault::refused
/// where another process trains there.
Result<TrainingEnd> train_whisper(WhisperTraining training);

/// The same on SET/TRAINING_DATASET.H5; SET/VALIDATION_DATASET.H5 chooses the best network.
Result<TrainingEnd> train_classifier(ClassifierTraining training);

/// The same on a set of 'tutti prepare tts', whose part for validation chooses the best network.
Result<TrainingEnd> train_tts(TtsTraining training);

/// The same on a set of 'tutti prepare tts --waveforms'.
Result<TrainingEnd> train_vocoder(VocoderTraining training);

}  // namespace tutti
