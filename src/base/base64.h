#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {
namespace base64_detail {

inline constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::size_t kBytes = 3, kGroup = 4;  // three bytes are four digits
inline constexpr unsigned kBitsOfDigit = 6, kBitsOfByte = 8;

constexpr std::array<std::int8_t, 256> values_of_digits() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  return values;
}

}  // namespace base64_detail

/// The bytes as base64 (RFC 4648), padded.
inline std::string base64_of(std::string_view bytes) {
  using namespace base64_detail;
  std::string text;
  text.reserve((bytes.size() + kBytes - 1) / kBytes * kGroup);
  for (std::size_t first = 0; first < bytes.size(); first += kBytes) {
    const auto part = bytes.substr(first, kBytes);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBytes; ++i)
      bits = bits << kBitsOfByte | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
    for (std::size_t digit = 0; digit < kGroup; ++digit)
      text += digit <= part.size() ? kDigits[bits >> (kBitsOfDigit * (kGroup - 1 - digit)) & 63U] : '=';
  }
  return text;
}

/// The bytes of a base64 text, with or without its padding; none: it is no such text. Padding alone is no bytes.
inline std::optional<std::string> base64_decoded(std::string_view text) {
  using namespace base64_detail;
  static constexpr auto kValues = values_of_digits();
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % kGroup == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / kGroup * kBytes + kBytes);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = (bits << kBitsOfDigit | static_cast<std::uint32_t>(value)) & 0xFFFFU;
    held += kBitsOfDigit;
    if (held < kBitsOfByte) continue;
    held -= kBitsOfByte;
    bytes.push_back(static_cast<char>(bits >> held & 0xFFU));
  }
  return bytes;
}

}  // namespace tutti
