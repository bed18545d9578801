#include "train/checkpoint/tensor_file.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fcntl.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/try.h"
#include "model/formats/formats.h"
#include "model/formats/safetensors_writer.h"
#include "model/tensor_bytes.h"

namespace tutti {
namespace {

struct Target {
  ElementType stored;
  at::ScalarType type;
};

Target target_of(const std::string& type) {
  if (type == "float16") return {ElementType::f16, at::kHalf};
  if (type == "bfloat16") return {ElementType::bf16, at::kBFloat16};
  return {ElementType::f32, at::kFloat};
}

}  // namespace

Result<void> write_tensors(const std::filesystem::path& path, std::span<const Parameter> tensors,
                           const std::string& type) {
  const c10::AutoGradMode no_gradients(false);
  const auto target = target_of(type);
  std::vector<TensorPlan> plans;
  for (const auto& tensor : tensors) plans.push_back({tensor.name, target.stored, tensor.value.sizes().vec()});
  const OwnedFd fd(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644));
  if (!fd) return fail_errno(path.string(), "could not be created");
  auto writer = TRY(SafetensorsWriter::start(fd.get(), std::move(plans), path.string()));
  for (const auto& tensor : tensors) {
    const auto values = tensor.value.detach().to(at::kCPU, target.type).contiguous();
    if (auto added = writer.add(bytes_of(values)); !added) return added;
  }
  return writer.finish();
}

Result<void> read_tensors(const std::filesystem::path& path, std::span<const Parameter> into) {
  const c10::AutoGradMode no_gradients(false);
  const auto file = TRY(MappedFile::open(path));
  const auto stored = parse_safetensors(file.bytes());
  if (!stored) return fail_in(path.string(), stored.error());
  std::map<std::string_view, const StoredTensor*> by_name;
  for (const auto& tensor : *stored) by_name[tensor.name] = &tensor;
  for (const auto& wanted : into) {
    const auto found = by_name.find(wanted.name);
    const bool same = found != by_name.end() && found->second->type == ElementType::f32 &&
                      at::IntArrayRef(found->second->shape) == wanted.value.sizes();
    if (!same)
      return fail(Fault::corrupt,
                  path.string() + ": tensor '" + wanted.name + "' is not there as F32 " +
                      shape_text(wanted.value.sizes().vec()),
                  "The checkpoint belongs to another recipe");
    auto copy = at::empty(wanted.value.sizes(), at::TensorOptions(at::kFloat));
    std::memcpy(copy.mutable_data_ptr(), found->second->bytes.data(), found->second->bytes.size());
    at::Tensor(wanted.value).copy_(copy);
  }
  return {};
}

Result<void> read_weights(const std::filesystem::path& path, std::span<const Parameter> weights) {
  const c10::AutoGradMode no_gradients(false);
  const auto file = TRY(MappedFile::open(path));
  const auto stored = parse_safetensors(file.bytes());
  if (!stored) return fail_in(path.string(), stored.error());
  for (const auto& weight : weights) {
    const auto found = std::ranges::find(*stored, weight.name, &StoredTensor::name);
    if (found == stored->end() || at::IntArrayRef(found->shape) != weight.value.sizes())
      return fail(Fault::corrupt,
                  path.string() + ": tensor '" + weight.name + "' is not there in the shape that config.json promises");
    const auto type = found->type == ElementType::f16    ? at::kHalf
                      : found->type == ElementType::bf16 ? at::kBFloat16
                                                         : at::kFloat;
    auto copy = at::empty(weight.value.sizes(), at::TensorOptions(type));
    if (copy.nbytes() != found->bytes.size())
      return fail(Fault::corrupt, path.string() + ": tensor '" + weight.name + "' is of a type that is not known here");
    std::ranges::copy(found->bytes, static_cast<std::byte*>(copy.mutable_data_ptr()));
    at::Tensor(weight.value).copy_(copy);
  }
  return {};
}

}  // namespace tutti
