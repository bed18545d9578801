#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "train/network/parameters.h"

namespace tutti {

/// Copies the tensors of a model.safetensors into `weights`, from whatever float type they have. Fault::missing without
/// such a file, Fault::corrupt where a tensor is not there in its shape.
Result<void> read_weights(const std::filesystem::path& file, const std::vector<Parameter>& weights);

}  // namespace tutti
