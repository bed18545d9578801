#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// Brings batches to a device beside the device's own work: through pinned memory, or from another device, on streams
/// of its own, with an event for each slot. On a CPU there is nothing to copy. `prepare` and `begin` belong to one
/// thread, `wait` to another; a slot is between the two.
class DeviceCopies {
 public:
  /// To `device`; what `prepare` calls computes on `data`, which may be the same.
  DeviceCopies(at::Device device, at::Device data, std::size_t slots);

  /// Calls `work` so that what it enqueues, on either device, runs beside what is enqueued elsewhere.
  template <class Work>
  auto prepare(Work work) const {
    const c10::MultiStreamGuard on_own_streams(streams_);
    return work();
  }
  /// Replaces tensors elsewhere by copies on the device; returns before they are made. Throws what torch throws, where
  /// the device or the memory on the way there is full, too.
  void begin(std::size_t slot, std::vector<at::Tensor>& tensors);
  /// Replaces tensors elsewhere by copies in host memory, and waits for them.
  void keep_on_host(std::vector<at::Tensor>& tensors) const;
  /// What the calling thread enqueues from now on runs after the slot's copies, and their memory is kept until it has
  /// run.
  void wait(std::size_t slot, const std::vector<at::Tensor>& tensors);

 private:
  at::Device device_;
  std::vector<c10::Stream> streams_{};     // streams of both devices, CPUs excepted; one where they are the same
  std::optional<c10::Stream> arriving_{};  // the one of `device`
  std::vector<c10::Event> copied_{};
};

/// How batches get to the device of a network.
struct DeviceLink {
  bool is_direct = false;       // peer to peer, in both directions; else through pinned memory of the host
  double bytes_per_second = 0;  // as measured
};

/// Copies a few times and measures; waits for it. None where nothing is copied, as on one device or between cores, and
/// where there is no memory for it.
std::optional<DeviceLink> probe_link(at::Device from, at::Device to);

/// "peer to peer, 21.3 GB/s", "through pinned memory, 6.4 GB/s".
std::string show_link(const DeviceLink& link);

}  // namespace tutti
