#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "base/error.h"
#include "feed/batch.h"
#include "feed/packed/packed_set.h"

namespace tutti {

/// The features of a packed set on a device, of which batches are gathered there: nothing of them is copied while
/// training runs but which rows they hold. One thread at a time.
class DeviceSet {
 public:
  /// Copies all features of `set`, as they are packed, and waits for it. Fault::exhausted where the device has no
  /// memory for them.
  static Result<DeviceSet> load(std::shared_ptr<const PackedSet> set, at::Device device);

  /// The rows that `batch.gather()` names: [rows, n_mels, batch.frames] float32 on the device, bit by bit what
  /// Batch::mel() would hold. Enqueues on the caller's stream. Where the device has no memory for it any more, this
  /// batch and all later ones are gathered out of the set in host memory, which is logged once.
  at::Tensor operator()(const Batch& batch);

 private:
  DeviceSet(std::shared_ptr<const PackedSet> set, at::Device device) : set_(std::move(set)), device_(device) {}
  void copy_features();
  at::Tensor gather(const Batch& batch) const;
  at::Tensor gather_on_host(const Batch& batch) const;

  std::shared_ptr<const PackedSet> set_;
  at::Device device_;
  at::Tensor features_{};  // [frames of all samples, n_mels] float16; undefined: gathered on the host
  at::Tensor firsts_{};    // [entries] int64: the first frame of each
  at::Tensor columns_{};   // [entries] int64
  at::Tensor silences_{};  // [entries] float32
  at::Tensor means_{};     // [entries] float32
};

}  // namespace tutti
