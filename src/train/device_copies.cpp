#include "train/device_copies.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace tutti {

DeviceCopies::DeviceCopies(at::Device device, std::size_t slots) : device_(device) {
  if (device.is_cpu()) return;
  stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  for (std::size_t slot = 0; slot < slots; ++slot) copied_.emplace_back(device.type());
}

void DeviceCopies::begin(std::size_t slot, std::vector<at::Tensor>& tensors) {
  if (!stream_) return;
  const c10::StreamGuard on_copy_stream(*stream_);
  // Pinned memory is reused by torch's cache once the copy from it is done.
  for (at::Tensor& tensor : tensors) tensor = tensor.pin_memory().to(device_, /*non_blocking=*/true);
  copied_[slot].record(*stream_);
}

void DeviceCopies::wait(std::size_t slot, const std::vector<at::Tensor>& tensors) {
  if (!stream_) return;
  const auto current = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  copied_[slot].block(current);
  for (const at::Tensor& tensor : tensors)
    if (!tensor.is_cpu()) tensor.record_stream(current);
}

}  // namespace tutti
