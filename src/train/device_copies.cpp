#include "train/device_copies.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace tutti {
namespace {

c10::Stream new_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

}  // namespace

DeviceCopies::DeviceCopies(at::Device device, at::Device data, std::size_t slots) : device_(device) {
  if (!device.is_cpu()) {
    arriving_ = new_stream(device);
    streams_.push_back(*arriving_);
    for (std::size_t slot = 0; slot < slots; ++slot) copied_.emplace_back(device.type());
  }
  if (!data.is_cpu() && data != device) streams_.push_back(new_stream(data));
}

void DeviceCopies::begin(std::size_t slot, std::vector<at::Tensor>& tensors) {
  if (!arriving_) return keep_on_host(tensors);
  prepare([&] {
    // Pinned memory is reused by torch's cache once the copy from it is done; between devices torch's copy runs where
    // both streams are, and goes through the host where the devices do not see each other.
    for (at::Tensor& tensor : tensors)
      tensor = (tensor.is_cpu() ? tensor.pin_memory() : tensor).to(device_, /*non_blocking=*/true);
  });
  copied_[slot].record(*arriving_);
}

void DeviceCopies::keep_on_host(std::vector<at::Tensor>& tensors) const {
  prepare([&] {
    for (at::Tensor& tensor : tensors) tensor = tensor.cpu();
  });
}

void DeviceCopies::wait(std::size_t slot, const std::vector<at::Tensor>& tensors) {
  if (!arriving_) return;
  const auto current = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  copied_[slot].block(current);
  for (const at::Tensor& tensor : tensors)
    if (!tensor.is_cpu()) tensor.record_stream(current);
}

}  // namespace tutti
