#include "train/device_copies.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <exception>

#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "model/gpu/out_of_memory.h"

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

namespace {

constexpr std::int64_t kBytes = 16 << 20;
constexpr int kCopies = 3;  // behind one that sets up all that copies need

void wait_for(at::Device device) {
  if (device.is_cuda()) gpu::synchronize(index_of(device));
}

bool are_peers(at::Device one, at::Device other) {
  return one.is_cuda() && other.is_cuda() && gpu::can_access(index_of(one), index_of(other)) &&
         gpu::can_access(index_of(other), index_of(one));
}

/// As DeviceCopies copies.
Seconds time_of_copy(const at::Tensor& tensor, at::Device to) {
  wait_for(tensor.device());
  const auto begin = Clock::real().now();
  const auto copy = tensor.to(to, /*non_blocking=*/true);
  wait_for(tensor.device());
  wait_for(to);
  return Clock::real().now() - begin;
}

}  // namespace

std::optional<DeviceLink> probe_link(at::Device from, at::Device to) {
  if (from == to || !to.is_cuda()) return std::nullopt;
  try {
    const auto options = at::TensorOptions(at::kByte).device(from).pinned_memory(from.is_cpu());
    const auto tensor = at::zeros({kBytes}, options);
    time_of_copy(tensor, to);
    Seconds fastest = Seconds::max();
    for (int copy = 0; copy < kCopies; ++copy) fastest = std::min(fastest, time_of_copy(tensor, to));
    return DeviceLink{.is_direct = are_peers(from, to), .bytes_per_second = kBytes / fastest.count()};
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
    log(Level::warning, "memory ran out: how fast batches reach " + to.str() + " was not measured");
    return std::nullopt;
  }
}

std::string show_link(const DeviceLink& link) {
  return std::string(link.is_direct ? "peer to peer" : "through pinned memory") + ", " +
         fixed_text(link.bytes_per_second / 1e9, 1) + " GB/s";
}

}  // namespace tutti
