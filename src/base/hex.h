#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// Bytes as lower-case hexadecimal digits, two each. Pure.
inline std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

/// The bytes that `hex_of` wrote so. None: it is no such text. Pure.
inline std::optional<std::string> bytes_of_hex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const auto high = kDigits.find(text[at]), low = kDigits.find(text[at + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace tutti
