#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/convert/weight_type.h"
#include "model/formats/checkpoint.h"
#include "model/formats/safetensors_writer.h"

namespace tutti {

/// A tensor of the network as it is stored.
struct NetworkTensor {
  std::string name{};  // OpenAI's
  const StoredTensor* stored = nullptr;
};

/// Every tensor of the network in its order, of the checkpoint's own memory. Fails as find_tensor does.
Result<std::vector<NetworkTensor>> network_tensors(const Checkpoint& checkpoint);

/// What becomes of one stored tensor: one tensor of the new file, or a matrix of int8 and its factors ("..._scale").
std::vector<TensorPlan> plan_tensor(const StoredTensor& stored, const std::string& name, WeightType type);

/// Computes the bytes that `plan_tensor` planned and hands them over in its order. int8 weights that become int8 keep
/// their numbers. A value that the new type cannot hold is an error that names the tensor.
Result<void> convert_tensor(const StoredTensor& stored, const std::string& name,
                            const std::shared_ptr<const Checkpoint>& owner, WeightType type,
                            const std::function<Result<void>(std::span<const std::byte>)>& take);

}  // namespace tutti
