#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace tutti {

/// Copies batches to a device beside the device's own work: through pinned memory, on a stream of its own, with an
/// event for each slot. On a CPU there is nothing to copy. `begin` belongs to one thread, `wait` to another; a slot is
/// between the two.
class DeviceCopies {
 public:
  DeviceCopies(at::Device device, std::size_t slots);

  /// Puts copies on the device in the place of tensors on the CPU; returns before they are made. Throws what torch
  /// throws, c10::OutOfMemoryError where the device is full.
  void begin(std::size_t slot, std::vector<at::Tensor>& tensors);
  /// What the calling thread enqueues from now on runs after the slot's copies, and their memory is kept until it has
  /// run.
  void wait(std::size_t slot, const std::vector<at::Tensor>& tensors);

 private:
  at::Device device_;
  std::optional<c10::Stream> stream_{};
  std::vector<c10::Event> copied_{};
};

}  // namespace tutti
