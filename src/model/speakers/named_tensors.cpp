#include "model/speakers/named_tensors.h"

#include <ATen/ATen.h>

#include <utility>

#include "base/try.h"
#include "model/formats/formats.h"
#include "model/weights.h"

namespace tutti {

Result<NamedTensors> NamedTensors::open(const std::filesystem::path& path, std::string_view key) {
  auto mapped = TRY(MappedFile::open(path));
  auto tensors = parse_torch_state(mapped.bytes(), key);
  if (!tensors) return fail_in(path.string(), tensors.error());
  auto file = std::make_shared<Checkpoint>();
  file->path = path;
  for (StoredTensor& tensor : *tensors) file->tensors.emplace(tensor.name, tensor);
  file->files.push_back(std::move(mapped));
  return NamedTensors(std::move(file));
}

at::Tensor NamedTensors::take(const std::string& name, const std::vector<std::int64_t>& shape, at::Device device) {
  const auto stored = find_tensor(*file_, name, shape);
  if (stored) return stored_values(**stored, file_).to(at::kFloat).clone().to(device);
  if (!error_) error_ = stored.error();
  return at::zeros(shape, at::TensorOptions(at::kFloat).device(device));
}

ChannelNorm ChannelNorm::take(NamedTensors& tensors, const std::string& name, std::int64_t channels, bool affine) {
  constexpr double kEpsilon = 1e-5;
  const auto mean = tensors.take(name + ".running_mean", {channels});
  ChannelNorm norm;
  norm.scale = (tensors.take(name + ".running_var", {channels}) + kEpsilon).rsqrt();
  if (affine) norm.scale = norm.scale * tensors.take(name + ".weight", {channels});
  norm.shift = -mean * norm.scale;
  if (affine) norm.shift = norm.shift + tensors.take(name + ".bias", {channels});
  return norm;
}

}  // namespace tutti
