#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/weight_type.h"
#include "model/formats/checkpoint.h"
#include "text/tokenizer.h"

namespace tutti {

/// The mel filters that whisper.cpp takes from the model's file: [n_mels, 201] float32 of so many bands.
using MelFilterBank = std::function<std::vector<float>(std::int32_t n_mels)>;

/// Whether whisper.cpp can run a network of that shape: it has windows of 30 s and knows the special tokens by the
/// vocabulary's size.
Result<void> check_ggml(const WhisperDims& dims);

/// Writes a model file of whisper.cpp, as its convert-h5-to-ggml.py and its quantize do, to `fd`, an empty file open
/// for writing. float32: every tensor; float16: matrices and convolutions, the rest in float32; q8_0: matrices in
/// blocks, convolutions in float16. `thing` names the file in errors. Returns its size. One tensor is in memory at a
/// time.
Result<std::uint64_t> write_ggml_file(const std::shared_ptr<const Checkpoint>& checkpoint,
                                      const std::vector<NetworkTensor>& tensors, WeightType type,
                                      const Tokenizer& tokenizer, const MelFilterBank& filters, int fd,
                                      const std::string& thing);

/// A whole number of blocks of 32 values as q8_0: the factor of each in float16, then 32 int8, 127 steps to its
/// largest value.
std::vector<std::byte> q8_0_blocks(std::span<const float> values);

}  // namespace tutti
