#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "audio/augment/augmentation.h"
#include "feed/batch.h"

namespace tutti {

/// Whisper's log-mel spectrogram as audio/log_mel.h computes it, of many recordings at once, on whatever device the
/// tensors are. Immutable; what it is called with and what it yields belong to the caller's stream.
class DeviceLogMel {
 public:
  DeviceLogMel(int n_mels, at::Device device);

  /// [rows, n_mels, frames] float32. `audio`: [rows, samples] float32, full scale 1, each row followed by zeros;
  /// `sounding`: frames from whose end on there is silence in every row. A row's clamp looks at all of its own.
  at::Tensor operator()(const at::Tensor& audio, std::int64_t sounding, std::int64_t frames) const;

 private:
  at::Tensor window_;   // [kMelFft] float32, Hann
  at::Tensor filters_;  // [kMelBins, n_mels] float64: products in it are exact enough whatever TF32 is set to
};

/// Recordings side by side. Samples at the scale of 16 bits.
struct AudioRows {
  at::Tensor audio{};                   ///< [rows, samples] float32; behind a row's own samples there are zeros
  std::vector<std::int64_t> lengths{};  ///< length of each row, in samples
};

/// The changes of audio/augment, made on the device where the rows are; `changes` has one entry a row. Speed, echoes
/// and gain are those of the host to rounding; noise is drawn by the device's own generator from the same key, so
/// another kind of device draws another noise of the same power.
AudioRows changed_on_device(AudioRows rows, const std::vector<const AudioChanges*>& changes);

/// The same of audio at any scale, which is neither held to that of 16 bits nor rounded: rows without changes stay as
/// they are, bit by bit. No gain is among the changes.
AudioRows changed_unrounded(AudioRows rows, const std::vector<const AudioChanges*>& changes);

/// `mel`, each row's masks blanked with the mean of its real frames. `mel`: [rows, n_mels, frames] float32; `real`:
/// frames of each row.
at::Tensor masked_on_device(const at::Tensor& mel, const std::vector<std::int64_t>& real,
                            const std::vector<const SpectrumMasks*>& masks);

/// The same, blanked with `means`: [rows, 1, 1] float32 on the device of `mel`.
at::Tensor masked_with(const at::Tensor& mel, const std::vector<std::int64_t>& real,
                       const std::vector<const SpectrumMasks*>& masks, const at::Tensor& means);

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
