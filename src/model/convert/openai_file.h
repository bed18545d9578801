#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/weight_type.h"
#include "model/formats/checkpoint.h"

namespace tutti {

/// Whether openai-whisper can run a network of that shape: it has windows of 30 s and its own vocabularies, and finds
/// the tokenizer by the vocabulary's size.
Result<void> check_openai(const WhisperDims& dims);

/// The same of another `program` with the same bounds.
Result<void> check_whisper_program(std::string_view program, const WhisperDims& dims);

/// Writes the model as openai-whisper's load_model reads it: what torch.save makes of {"dims": {...},
/// "model_state_dict": {...}}. Returns the bytes of the file, which is there whole or not at all. One tensor is in
/// memory at a time. int8 and q8_0 are refused: the file has no entry for factors.
Result<std::uint64_t> write_openai_file(const std::shared_ptr<const Checkpoint>& checkpoint,
                                        const std::vector<NetworkTensor>& tensors, WeightType type,
                                        const std::filesystem::path& path);

}  // namespace tutti
