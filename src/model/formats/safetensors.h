#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

/// The tensors of a safetensors file whose bytes are `file` (format: github.com/huggingface/safetensors, README).
/// Nothing is trusted: header length and syntax, types, shapes, and that the tensors tile the data without gap or
/// overlap are checked, so that a truncated file is found here and not by a fault later. The results point into
/// `file`. Thread-safe.
Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> file);

}  // namespace tutti
