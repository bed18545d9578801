#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "base/files.h"
#include "model/formats/formats.h"

namespace tutti {

inline std::filesystem::path golden_folder() {
  return std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/model";
}

/// The tensors of a golden file, copied; float16 becomes float32.
inline std::map<std::string, at::Tensor> read_golden(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) throw std::runtime_error(file.error().text());
  const auto stored = parse_safetensors(file->bytes());
  if (!stored) throw std::runtime_error(stored.error().text());
  std::map<std::string, at::Tensor> tensors;
  for (const auto& tensor : *stored) {
    const auto type = tensor.type == ElementType::f16   ? at::kHalf
                      : tensor.type == ElementType::f64 ? at::kDouble
                      : tensor.type == ElementType::i32 ? at::kInt
                                                        : at::kFloat;
    auto copy = at::empty(tensor.shape, at::TensorOptions(type));
    std::memcpy(copy.mutable_data_ptr(), tensor.bytes.data(), tensor.bytes.size());
    tensors[tensor.name] = type == at::kHalf ? copy.to(at::kFloat) : copy;
  }
  return tensors;
}

/// The largest absolute difference of two tensors of one shape.
inline double distance(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) throw std::runtime_error("distance of tensors of different shapes");
  return (a.to(at::kCPU, at::kDouble) - b.to(at::kCPU, at::kDouble)).abs().max().item<double>();
}

/// The first of a golden file's token rows, as ids.
inline std::vector<std::int32_t> token_row(const at::Tensor& tokens, std::int64_t row) {
  const auto line = tokens.dim() == 1 ? tokens : tokens[row];
  const auto* data = line.const_data_ptr<std::int32_t>();
  return {data, data + line.numel()};
}

}  // namespace tutti
