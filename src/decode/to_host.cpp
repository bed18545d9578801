#include "decode/to_host.h"

#include <ATen/ATen.h>

#include "model/gpu.h"

namespace tutti {

at::Tensor to_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor.contiguous();
  auto host = at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()).pinned_memory(true));
  host.copy_(tensor, /*non_blocking=*/true);
  try {
    gpu::synchronize(tensor.device().index());
  } catch (...) {
    // The device is lost. Freeing pinned memory calls it once more, in a destructor, and would end the process before
    // the reason is reported.
    static_cast<void>(new at::Tensor(host));
    throw;
  }
  return host;
}

}  // namespace tutti
