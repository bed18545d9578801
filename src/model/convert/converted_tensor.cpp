#include "model/convert/converted_tensor.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <limits>
#include <string>

#include "base/try.h"
#include "model/tensor_bytes.h"
#include "model/weights.h"

namespace tutti {
namespace {

/// Matrices that a linear layer or the embedding multiplies with; positions are added, and norms and biases have one
/// dimension.
bool becomes_int8(const StoredTensor& stored, const std::string& name, WeightType type) {
  return type == WeightType::int8 && stored.shape.size() == 2 && name.find("positions") == std::string::npos;
}

ElementType element_type(WeightType type) {
  switch (type) {
    case WeightType::float16: return ElementType::f16;
    case WeightType::bfloat16: return ElementType::bf16;
    default: return ElementType::f32;
  }
}

using Take = std::function<Result<void>(std::span<const std::byte>)>;

/// Symmetric, 127 steps to the largest of the row; a row of zeros has the factor 1, and one that float32 has no factor
/// for becomes zeros.
Result<void> take_rows(const at::Tensor& values, const Take& take) {
  const auto largest = values.abs().amax(1, /*keepdim=*/true);
  const auto factors = largest / 127;
  const auto scales = at::where(factors >= std::numeric_limits<float>::min(), factors, at::ones_like(largest));
  const auto rows = at::round(values / scales).clamp(-127, 127).to(at::kChar).contiguous();
  auto taken = take(bytes_of(rows));
  return taken ? take(bytes_of(scales.contiguous())) : taken;
}

/// Numbers and factors as they lie.
Result<void> take_same(const StoredTensor& stored, const Take& take) {
  auto taken = take(stored.bytes);
  return taken ? take(std::as_bytes(std::span(stored.row_scales))) : taken;
}

}  // namespace

Result<std::vector<NetworkTensor>> network_tensors(const Checkpoint& checkpoint) {
  std::vector<NetworkTensor> tensors;
  WhisperWeights unused;
  for (const auto& slot : weight_slots(unused, checkpoint.shape)) {
    const auto stored = TRY(find_tensor(checkpoint, slot.name, slot.shape));
    tensors.push_back({slot.name, stored});
  }
  return tensors;
}

std::vector<TensorPlan> plan_tensor(const StoredTensor& stored, const std::string& name, WeightType type) {
  if (!becomes_int8(stored, name, type)) return {{name, element_type(type), stored.shape}};
  return {{name, ElementType::i8, stored.shape}, {name + "_scale", ElementType::f32, {stored.shape[0]}}};
}

Result<void> convert_tensor(const StoredTensor& stored, const std::string& name,
                            const std::shared_ptr<const Checkpoint>& owner, WeightType type, const Take& take) {
  const c10::InferenceMode no_autograd;
  const bool rows = becomes_int8(stored, name, type);
  if (rows && stored.type == ElementType::i8) return take_same(stored, take);
  const auto dtype = type == WeightType::float16    ? at::kHalf
                     : type == WeightType::bfloat16 ? at::kBFloat16
                                                    : at::kFloat;
  const auto values = stored_values(stored, owner).to(dtype).contiguous();
  if (!at::isfinite(values).all().item<bool>()) {
    // A wider type helps only where the values were numbers before.
    const bool narrow = at::isfinite(stored_values(stored, owner)).all().item<bool>();
    return fail(narrow ? Fault::unsupported : Fault::corrupt,
                "tensor '" + stored.name + "' has values that are no finite " +
                    (narrow ? std::string(name_of(type)) : "numbers"),
                narrow ? "Convert to float32 or bfloat16" : "The weights are damaged: get the model again");
  }
  return rows ? take_rows(values, take) : take(bytes_of(values));
}

}  // namespace tutti
