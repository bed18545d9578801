#pragma once

#include <cstdint>

#include "audio/augment/augmentation.h"
#include "feed/packed/packed_set.h"

namespace tutti {

/// A packed sample as a row of a batch: [n_mels, frames] float32, silence behind what is kept of it, blanked where
/// `masks` say. `frames` is no less than its content. Pure but for `out`.
void gather_row(const PackedSet& set, const PackEntry& entry, const SpectrumMasks& masks, float* out,
                std::int64_t frames);

}  // namespace tutti
