#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "model/convert/weight_type.h"
#include "model/formats/dims.h"

namespace tutti {

struct ConvertRequest {
  std::filesystem::path model{};  // of any kind that open_checkpoint reads
  std::filesystem::path into{};   // a folder that does not exist yet, or is empty; or a new file, NAME.pt
  WeightType type = WeightType::float16;
};

struct ConvertedModel {
  WhisperShape shape{};
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;  // of the new model.safetensors, or NAME.pt
};

/// Writes a model as a Hugging Face folder, or as OpenAI's file (openai_file.h). The folder is there whole or not at
/// all: the weights go to a file without a name on the same disk, which is gone if we die. Nothing starts unless the
/// disk has the space. One tensor is in memory at a time.
Result<ConvertedModel> convert_model(const ConvertRequest& request);

}  // namespace tutti
