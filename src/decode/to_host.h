#pragma once

#include <ATen/core/Tensor.h>

namespace tutti {

/// The tensor on the CPU, contiguous: itself where it is so already. Waits for the device. Throws what torch throws.
at::Tensor to_host(const at::Tensor& tensor);

}  // namespace tutti
