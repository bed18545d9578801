#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "recipe/classifier_recipe.h"
#include "recipe/tts_recipe.h"
#include "recipe/vocoder_recipe.h"
#include "recipe/whisper_recipe.h"

namespace tutti {

/// The TOML text over what `recipe` holds already. Strict: an unknown key is named with the nearest right one, a value
/// of another kind with what was expected. `file_name` names the text in errors.
Result<WhisperRecipe> read_recipe(std::string_view toml, const std::string& file_name, WhisperRecipe recipe = {});

/// The whole recipe as TOML; reading it gives the same recipe.
std::string show_recipe(WhisperRecipe recipe);

/// Where `now` differs in what a resumed training may not change: "batch-size 4 (it was 2), seed 3 (it was 1)". Empty:
/// nowhere.
std::string binding_differences(WhisperRecipe now, WhisperRecipe before);

/// The names of the presets that a Whisper training may begin with: "whisper-small" has the defaults of field note
/// 004's script. Thread-safe.
std::vector<std::string> whisper_preset_names();
/// One of them as a recipe in TOML; a name that is none gives an empty text, which sets nothing. Thread-safe.
std::string whisper_preset(const std::string& name);

/// The same of a classifier's recipe.
Result<ClassifierRecipe> read_classifier_recipe(std::string_view toml, const std::string& file_name,
                                                ClassifierRecipe recipe = {});
std::string show_recipe(ClassifierRecipe recipe);
std::string binding_differences(ClassifierRecipe now, ClassifierRecipe before);

/// The same of a voice's recipe.
Result<TtsRecipe> read_tts_recipe(std::string_view toml, const std::string& file_name, TtsRecipe recipe = {});
std::string show_recipe(TtsRecipe recipe);
std::string binding_differences(TtsRecipe now, TtsRecipe before);

/// The same of a vocoder's recipe.
Result<VocoderRecipe> read_vocoder_recipe(std::string_view toml, const std::string& file_name,
                                          VocoderRecipe recipe = {});
std::string show_recipe(VocoderRecipe recipe);
std::string binding_differences(VocoderRecipe now, VocoderRecipe before);

/// Fault::usage for values that cannot be intended, each by itself or together.
Result<void> check_recipe(const WhisperRecipe& recipe);
Result<void> check_recipe(const ClassifierRecipe& recipe);
Result<void> check_recipe(const TtsRecipe& recipe);
Result<void> check_recipe(const VocoderRecipe& recipe);

}  // namespace tutti
