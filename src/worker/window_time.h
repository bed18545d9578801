#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/units.h"

namespace tutti {

/// Sequences of a decoder step that `window_time` times.
inline constexpr std::int32_t kTimedTogether = 8;

/// Seconds of the device for a window of speech: `encode()`, and its share of the steps in which a hundred tokens are
/// decoded for each of eight windows. `step()` makes one such step. The fastest of several calls counts, since other
/// work on the machine delays some of them, and of steps there are as many as a window takes: the result is never more
/// than what the calls took.
Seconds window_time(const std::function<void()>& encode, const std::function<void()>& step,
                    const Clock& clock = Clock::real());

}  // namespace tutti
