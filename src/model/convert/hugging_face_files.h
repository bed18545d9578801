#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "model/convert/weight_type.h"
#include "model/formats/checkpoint.h"
#include "text/tokenizer.h"

namespace tutti {

/// Settings in a model's config.json that decide which audio it gets, by key: "tutti_vad_method", "tutti_audio_filter".
/// Folders of Hugging Face's and CTranslate2's format keep them, single files cannot. Empty for a file.
std::map<std::string, std::string> audio_settings(const std::filesystem::path& model);

/// The small files of a Hugging Face folder, by name: config.json, generation_config.json, preprocessor_config.json and
/// the tokenizer's. What the model's own folder has of them is kept, the type of its weights apart. Missing ones, as
/// for an OpenAI, CTranslate2 or whisper.cpp model, are made from its shape, its vocabulary and its config.json.
Result<std::map<std::string, std::string>> hugging_face_files(const Checkpoint& checkpoint, WeightType type);

/// The same for a network that was never stored: all of them made.
std::map<std::string, std::string> new_hugging_face_files(const WhisperShape& shape, const Tokenizer& tokenizer,
                                                          WeightType type);

}  // namespace tutti
