#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transcript/long_form.h"

namespace tutti {

/// Tokens of one segment, its timestamps included, with its times in the recording in seconds.
struct Slice {
  double start = 0;
  double end = 0;
  std::span<const std::int32_t> tokens{};
};

struct SlicedWindow {
  std::vector<Slice> slices{};
  std::int64_t next_seek = 0;  // frame the next window starts at; always behind this one's start
  bool closed = false;         // the text ends in a single timestamp: no speech is behind it
};

/// Mel frames, 100 a second, in seconds.
double seconds_of_frames(std::int64_t frames);

/// Cuts the tokens of one window into segments where two timestamps are side by side, and returns where to go on. That
/// is at the last such timestamp, so that what was cut off by the window's end is decoded again; or behind the window
/// where the text ends in a single timestamp (no speech is after it) or has no such pair. The slices look into
/// `tokens`.
SlicedWindow slice_window(std::span<const std::int32_t> tokens, WindowSpan window, std::int32_t timestamp_begin);

}  // namespace tutti
