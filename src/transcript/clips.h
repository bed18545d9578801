#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Mel frames [start, end) of the recording that are to be transcribed.
struct Clip {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

/// `points`: start, end, start, end, ... in seconds; a missing last end, and none at all, mean the end of the
/// recording. Clips keep their order, may overlap and may be empty; nothing reaches past the recording. Negative or
/// non-finite points are an error of use.
Result<std::vector<Clip>> clips_from(std::span<const double> points, std::int64_t content_frames);

}  // namespace tutti
