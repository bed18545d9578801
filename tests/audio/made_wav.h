#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "samples.h"

namespace tutti {

/// A WAV file in memory: interleaved 16-bit samples, and where a mask is given the extensible format that has one.
struct MadeWav {
  std::uint16_t channels = 1;
  std::uint32_t rate = 16000;
  std::optional<std::uint32_t> mask{};
  std::optional<std::uint32_t> bytes_per_second{};  // none: as it should be
  std::optional<std::uint32_t> claimed{};           // bytes of samples; none: as it should be

  std::string of(std::span<const std::int16_t> pcm) const {
    const auto number = [](std::uint32_t value, std::size_t bytes) {
      return std::string(reinterpret_cast<const char*>(&value), bytes);
    };
    const auto align = static_cast<std::uint32_t>(channels * 2);
    std::string format = number(mask ? 0xfffe : 1, 2) + number(channels, 2) + number(rate, 4) +
                         number(bytes_per_second.value_or(rate * align), 4) + number(align, 2) + number(16, 2);
    if (mask)
      format += number(22, 2) + number(16, 2) + number(*mask, 4) +
                std::string("\x01\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 16);
    const auto size = claimed.value_or(static_cast<std::uint32_t>(pcm.size_bytes()));
    const std::string body =
        "WAVEfmt " + number(static_cast<std::uint32_t>(format.size()), 4) + format + "data" + number(size, 4);
    const std::string samples(reinterpret_cast<const char*>(pcm.data()), pcm.size_bytes());
    return "RIFF" + number(static_cast<std::uint32_t>(body.size()) + size, 4) + body + samples;
  }
};

/// Each channel by what it multiplies the audio with.
inline std::vector<std::int16_t> interleaved(std::span<const std::int16_t> pcm, const std::vector<double>& gains) {
  std::vector<std::int16_t> all;
  for (const std::int16_t sample : pcm)
    for (const double gain : gains)
      all.push_back(static_cast<std::int16_t>(std::clamp(std::lround(sample * gain), -32767L, 32767L)));
  return all;
}

/// 1: the same but for its loudness; 0: nothing in common. Over what both have.
inline double likeness(std::span<const std::int16_t> a, std::span<const std::int16_t> b) {
  double both = 0, of_a = 1e-9, of_b = 1e-9;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    both += static_cast<double>(a[i]) * b[i];
    of_a += static_cast<double>(a[i]) * a[i];
    of_b += static_cast<double>(b[i]) * b[i];
  }
  return both / std::sqrt(of_a * of_b);
}

}  // namespace tutti
