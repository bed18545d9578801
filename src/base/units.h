#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace tutti {

using Seconds = std::chrono::duration<double>;

struct Hertz {
  int value = 0;
  auto operator<=>(const Hertz&) const = default;
};

struct Bytes {
  std::int64_t value = 0;
  auto operator<=>(const Bytes&) const = default;
};

/// The rate every Whisper model listens at.
inline constexpr Hertz kModelRate{16000};

/// Frames of log-mel in a second of audio, and positions of the encoder, whose second convolution halves them.
inline constexpr double kFramesPerSecond = 100;
inline constexpr double kPositionsPerSecond = kFramesPerSecond / 2;

/// Whole samples that fit into `length` at `rate`.
constexpr std::int64_t samples_in(Seconds length, Hertz rate) {
  return static_cast<std::int64_t>(length.count() * rate.value);
}

/// Length of `samples` at `rate`.
constexpr Seconds length_of(std::int64_t samples, Hertz rate) {
  return Seconds(static_cast<double>(samples) / rate.value);
}

}  // namespace tutti
