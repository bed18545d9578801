#include "train/network/stored_weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "base/files.h"
#include "model/formats/formats.h"

namespace tutti {

Result<void> read_weights(const std::filesystem::path& file_path, const std::vector<Parameter>& weights) {
  const c10::AutoGradMode no_gradients(false);
  const auto file = MappedFile::open(file_path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto stored = parse_safetensors(file->bytes());
  if (!stored) return fail_in(file_path.string(), stored.error());
  for (const auto& weight : weights) {
    const auto found = std::ranges::find(*stored, weight.name, &StoredTensor::name);
    if (found == stored->end() || at::IntArrayRef(found->shape) != weight.value.sizes())
      return fail(Fault::corrupt, file_path.string() + ": tensor '" + weight.name +
                                      "' is not there in the shape that config.json promises");
    const auto type = found->type == ElementType::f16    ? at::kHalf
                      : found->type == ElementType::bf16 ? at::kBFloat16
                                                         : at::kFloat;
    auto copy = at::empty(weight.value.sizes(), at::TensorOptions(type));
    if (copy.nbytes() != found->bytes.size())
      return fail(Fault::corrupt,
                  file_path.string() + ": tensor '" + weight.name + "' is of a type that is not known here");
    std::ranges::copy(found->bytes, static_cast<std::byte*>(copy.mutable_data_ptr()));
    at::Tensor(weight.value).copy_(copy);
  }
  return {};
}

}  // namespace tutti
