#include "train/gpu_features/device_features.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "audio/log_mel.h"
#include "base/numbers.h"
#include "train/gpu_features/device_effects.h"

namespace tutti {
namespace {

/// Sizes of transforms are multiples of it: every new size costs cuFFT a plan.
constexpr std::int64_t kFramesTogether = 50;

/// All rows in one piece of (on a GPU's host: pinned) memory, on their way to the device.
SoundRows uploaded(const Batch& batch, at::Device device) {
  SoundRows rows;
  std::int64_t longest = 1;
  for (const BatchSound& sound : batch.sounds) {
    rows.lengths.push_back(std::ssize(sound.pcm));
    longest = std::max(longest, rows.lengths.back());
  }
  const auto options = at::TensorOptions(at::kShort).pinned_memory(device.is_cuda());
  const auto packed = at::zeros({batch.size(), longest}, options);
  auto* to = packed.data_ptr<std::int16_t>();
  for (const BatchSound& sound : batch.sounds) {
    std::ranges::copy(sound.pcm, to);
    to += longest;
  }
  rows.sound = packed.to(device, /*non_blocking=*/true).to(at::kFloat);
  return rows;
}

}  // namespace

at::Tensor DeviceFeatures::operator()(const Batch& batch) const {
  std::vector<const SoundChanges*> changes;
  std::vector<const SpectrumMasks*> masks;
  std::vector<std::int64_t> real;
  for (const BatchSound& sound : batch.sounds) {
    changes.push_back(&sound.changes);
    masks.push_back(&sound.masks);
  }
  for (const BatchSample& sample : batch.samples) real.push_back(sample.frames);
  const auto rows = changed_on_device(uploaded(batch, device_), changes);
  const auto sounding = rounded_up(*std::ranges::max_element(real) + kStraddlingFrames, kFramesTogether);
  return masked_on_device(log_mel_(rows.sound / 32768, sounding, batch.frames), real, masks);
}

}  // namespace tutti
