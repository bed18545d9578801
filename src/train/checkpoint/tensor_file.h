#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "train/parameter.h"

namespace tutti {

/// Writes tensors as a new safetensors file and flushes it to disk. type: "float32", "float16" or "bfloat16".
Result<void> write_tensors(const std::filesystem::path& path, std::span<const Parameter> tensors,
                           const std::string& type);

/// Copies the file's tensors into those of the same names, on whatever device they are. Fault::corrupt where one is
/// missing or has another shape.
Result<void> read_tensors(const std::filesystem::path& path, std::span<const Parameter> into);

/// The same of a model's weights, from whatever float type they are stored in: a model may have been made smaller, a
/// checkpoint never is. Fault::missing without the file.
Result<void> read_weights(const std::filesystem::path& path, std::span<const Parameter> weights);

}  // namespace tutti
