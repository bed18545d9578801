#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/formats/checkpoint.h"

namespace tutti {

/// The tensors of a network's file of torch.save, taken by name. The first one that is missing or of another shape is
/// kept as the error; from then on zeros are taken.
class NamedTensors {
 public:
  /// key: of the dict of tensors in the file's; empty: that is the file's own.
  static Result<NamedTensors> open(const std::filesystem::path& path, std::string_view key);

  /// A float32 copy on `device`.
  at::Tensor take(const std::string& name, const std::vector<std::int64_t>& shape, at::Device device = at::kCPU);
  /// What was wrong first; nothing: all tensors that were taken are there.
  const std::optional<Error>& error() const { return error_; }

 private:
  explicit NamedTensors(std::shared_ptr<const Checkpoint> file) : file_(std::move(file)) {}

  std::shared_ptr<const Checkpoint> file_;
  std::optional<Error> error_{};
};

/// A normalisation by running statistics as one product and one sum for each channel: y = x * scale + shift.
struct ChannelNorm {
  at::Tensor scale{};  // [channels]
  at::Tensor shift{};  // [channels]

  /// affine: it has a weight and a bias of its own.
  static ChannelNorm take(NamedTensors& tensors, const std::string& name, std::int64_t channels, bool affine = true);
};

}  // namespace tutti
