#pragma once

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Random numbers of the kernel, which cannot be predicted. Draws that must repeat come from counter_random.h.
// Thread-safe. They throw std::runtime_error where the kernel gives none; for up to 256 bytes Linux always does.

/// Fills them, by getrandom.
inline void fill_random(std::span<unsigned char> bytes) {
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the kernel gives no random numbers");
}

/// A name or key that no other process has: so many bytes as hexadecimal digits in lower case, two for each.
inline std::string random_token(std::size_t bytes = 16) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::vector<unsigned char> drawn(bytes);
  fill_random(drawn);
  std::string token;
  for (const unsigned char byte : drawn) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 15U];
  }
  return token;
}

/// A number in [0, 1), for the jitter of waits.
inline double random_fraction() {
  std::array<unsigned char, 16> drawn{};
  fill_random(drawn);
  double fraction = 0;
  for (const unsigned char byte : drawn) fraction = (fraction + byte) / 256;
  return std::min(fraction, 1 - 1e-9);  // rounding may have made it 1
}

}  // namespace tutti
