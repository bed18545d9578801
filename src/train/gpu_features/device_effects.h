#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "audio/augment/augmentation.h"

namespace tutti {

/// Recordings side by side. Samples at the scale of 16 bits.
struct SoundRows {
  at::Tensor sound{};                   ///< [rows, samples] float32; behind a row's own samples there are zeros
  std::vector<std::int64_t> lengths{};  ///< of each row, in samples
};

/// The changes of audio/augment, made on the device where the rows are; `changes` has one entry a row. Speed, echoes
/// and gain are those of the host to rounding; noise is drawn by the device's own generator from the same key, so
/// another kind of device draws another noise of the same power.
SoundRows changed_on_device(SoundRows rows, const std::vector<const SoundChanges*>& changes);

/// `mel`, each row's masks blanked with the mean of its real frames. `mel`: [rows, n_mels, frames] float32; `real`:
/// frames of each row.
at::Tensor masked_on_device(const at::Tensor& mel, const std::vector<std::int64_t>& real,
                            const std::vector<const SpectrumMasks*>& masks);

/// The same, blanked with `means`: [rows, 1, 1] float32 on the device of `mel`.
at::Tensor masked_with(const at::Tensor& mel, const std::vector<std::int64_t>& real,
                       const std::vector<const SpectrumMasks*>& masks, const at::Tensor& means);

}  // namespace tutti
