#pragma once

#include <ATen/core/Tensor.h>

#include "feed/batch.h"
#include "train/gpu_features/device_log_mel.h"

namespace tutti {

/// Augmentation and log-mel of whole batches on a device, in place of the feed's threads: for batches that a feed hands
/// out as audio (FeedOptions::as_sound). Enqueues on the caller's streams. Immutable; thread-safe.
class DeviceFeatures {
 public:
  DeviceFeatures(at::Device device, int n_mels) : device_(device), log_mel_(n_mels, device) {}

  at::Device device() const { return device_; }

  /// [rows, n_mels, batch.frames] float32 on the device: what Batch::mel would hold, to 1e-4 where the audio stays as
  /// it is and to the rounding of its PCM samples where speed, echoes or gain change it. Throws what torch throws.
  at::Tensor operator()(const Batch& batch) const;

 private:
  at::Device device_;
  DeviceLogMel log_mel_;
};

}  // namespace tutti
