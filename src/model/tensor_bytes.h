#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>

namespace tutti {

/// All values of a contiguous tensor on the CPU as they lie, of any type: little-endian, as files have them. Valid
/// while the tensor's memory is.
inline std::span<const std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}

}  // namespace tutti
