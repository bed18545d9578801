#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// Something that goes wrong with an emulated GPU, once.
struct EmulatedFailure {
  enum class Kind {
    die,      ///< the process is killed
    hang,     ///< it sends nothing any more
    stall,    ///< it answers pings and finishes nothing
    garble,   ///< it sends nonsense
    exhaust,  ///< one window does not fit
    lost,     ///< the device is gone: the process ends, and none gets ready until it is back
  };
  Kind kind = Kind::die;
  Seconds at{0};     ///< since the GPU was born, by the GPU's clock
  Seconds lasts{0};  ///< duration of `lost`; 0: for good
  bool operator==(const EmulatedFailure&) const = default;
};

/// A GPU that is only played: how fast it is, what fits and what goes wrong. Its clock runs `time` real seconds a
/// second, so that hours pass in seconds.
struct EmulatedCard {
  /// What a model of ordinary size takes (turbo in float16, with what it computes in), and each window beside it.
  static constexpr Bytes kModel{std::int64_t{3} << 30};
  static constexpr Bytes kWindow{std::int64_t{400} << 20};

  double speed = 30;  ///< seconds of audio a second, whatever the number of windows
  Bytes memory{std::int64_t{12} << 30};
  std::int32_t slots = 8;  ///< windows in work at most; fewer where memory does not hold them
  double jitter = 0;       ///< a window's time varies by up to this share either way
  Seconds warm_up{0};      ///< from the start of a worker to Ready
  double time = 1;         ///< real seconds per second of the GPU
  std::uint64_t seed = 0;  ///< seed of the jitter
  std::int64_t born = 0;   ///< nanoseconds of the monotonic clock; failures count from here
  std::string uuid{};      ///< the (fake) GPU it sits on; empty: none
  std::vector<EmulatedFailure> failures{};

  /// Windows that fit beside the model, at least one.
  std::int32_t windows() const;
  bool operator==(const EmulatedCard&) const = default;
};

/// "die@30", "lost@60+30": as in a devices file.
Result<EmulatedFailure> parse_failure(const std::string& text);
std::string text_of(const EmulatedFailure& failure);

}  // namespace tutti
