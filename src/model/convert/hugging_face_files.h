#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "model/convert/weight_type.h"
#include "model/stored/checkpoint.h"

namespace tutti {

/// The small files of a Hugging Face folder, by name: config.json, generation_config.json, preprocessor_config.json and
/// the tokenizer's. What the model's own folder has of them is kept, the type of its weights apart; what it lacks, as
/// an OpenAI, CTranslate2 or whisper.cpp model does, is made from its shape, its vocabulary and what its config.json
/// says.
Result<std::map<std::string, std::string>> hugging_face_files(const Checkpoint& checkpoint, WeightType type);

}  // namespace tutti
