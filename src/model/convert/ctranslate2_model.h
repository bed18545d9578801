#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/weight_type.h"
#include "model/formats/checkpoint.h"

namespace tutti {

/// Writes model.bin of CTranslate2 (binary version 6, WhisperSpec revision 3) to `fd`, an empty file open for writing.
/// Query, key and value of self-attention become one matrix, key and value of cross-attention another. int8 matrices
/// and convolutions have a divisor for each row, 127 steps to its largest value. `thing` names the file in errors.
/// Returns its size. One tensor is in memory at a time.
Result<std::uint64_t> write_ctranslate2_weights(const std::shared_ptr<const Checkpoint>& checkpoint,
                                                const std::vector<NetworkTensor>& tensors, WeightType type, int fd,
                                                const std::string& thing);

/// The small files beside model.bin, by name: config.json, vocabulary.json, and what faster-whisper reads,
/// tokenizer.json and preprocessor_config.json.
Result<std::map<std::string, std::string>> ctranslate2_files(const Checkpoint& checkpoint);

}  // namespace tutti
