#pragma once

#include <cstdint>

namespace tutti {

/// Which part of a file is decoded.
struct AudioChoice {
  /// All channels mixed, even where they cancel each other out.
  static constexpr std::int32_t kMix = -1;

  std::int32_t track = 0;    // among the audio tracks, from 1; 0: the default one, or one with speech where it has none
  std::int32_t channel = 0;  // from 1; kMix; 0: mixed, or the loudest one where the mix would be silent
};

}  // namespace tutti
