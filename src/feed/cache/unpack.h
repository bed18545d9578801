#pragma once

#include <algorithm>
#include <cstdint>

#include "feed/cache/half.h"

namespace tutti {

/// Fills all `stride` frames of a row from what was kept of it. `kept`: [n_mels, frames] in half precision; `silence`
/// follows them.
inline void unpack(const std::uint16_t* kept, std::int64_t frames, float silence, std::int64_t n_mels, float* out,
                   std::int64_t stride) {
  const std::int64_t shared = std::min(frames, stride);
  for (std::int64_t bin = 0; bin < n_mels; ++bin) {
    const std::uint16_t* from = kept + bin * frames;
    float* into = out + bin * stride;
    for (std::int64_t frame = 0; frame < shared; ++frame) into[frame] = from_half(from[frame]);
    std::fill(into + shared, into + stride, silence);
  }
}

}  // namespace tutti
