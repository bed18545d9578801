#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

namespace tutti {

/// One tensor of a network under its Hugging Face name.
struct Parameter {
  std::string name{};
  at::Tensor value{};  // float32, a leaf; requires a gradient where it is trained
};

/// How many numbers the tensors hold.
inline std::int64_t parameter_count(std::span<const Parameter> parameters) {
  std::int64_t count = 0;
  for (const auto& parameter : parameters) count += parameter.value.numel();
  return count;
}

}  // namespace tutti
