#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/formats/dims.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

struct GgmlModel {
  WhisperDims dims{};
  std::vector<StoredTensor> tensors{};  // OpenAI's names are the file's own
};

/// Reads a model file of whisper.cpp (ggml-tiny.en.bin): float32, float16, bfloat16, and the block types q4_0, q4_1,
/// q5_0, q5_1 and q8_0, which stay as they are. Nothing is trusted; an error names the tensor. The tensors point into
/// `file`. Thread-safe.
Result<GgmlModel> parse_ggml(std::span<const std::byte> file);

}  // namespace tutti
