#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "model/formats/stored_tensor.h"

namespace tutti {

/// Aborts if an accepted tensor is not inside the file, is not as long as its shape requires, or does not have one
/// scale per row.
inline void expect_inside(const StoredTensor& tensor, std::span<const std::byte> file) {
  if (byte_count(tensor.shape, tensor.type) != tensor.bytes.size()) std::abort();
  if (tensor.bytes.data() < file.data()) std::abort();
  if (tensor.bytes.data() + tensor.bytes.size() > file.data() + file.size()) std::abort();
  if (!tensor.row_scales.empty() && tensor.row_scales.size() != static_cast<std::size_t>(tensor.shape[0])) std::abort();
}

}  // namespace tutti
