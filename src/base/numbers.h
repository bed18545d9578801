#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tutti {

/// The number that all of `text` is; none for anything else.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return {};
  return value;
}

/// The least multiple of `multiple` (at least 1) that is no less than `value` (at least 0).
constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The shortest text that number_in reads as the same number.
inline std::string number_text(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// "12.50": with that many digits behind the point, 0 to 9, rounded to the nearest.
inline std::string fixed_text(double value, int decimals) {
  std::array<char, 330> text{};  // the largest double has 309 digits before the point
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// "6.1 GB" of 10^9 bytes, as NVIDIA's tools and vendors' names count.
inline std::string gigabytes_text(Bytes bytes) {
  return fixed_text(static_cast<double>(bytes.value) / 1e9, 1) + " GB";
}

/// "1625 MB": whole ones, for columns whose rows are to be compared.
inline std::string megabytes_text(Bytes bytes) {
  return std::to_string((bytes.value + 500'000) / 1'000'000) + " MB";
}

/// "840 bytes", "12 kB", "3.4 MB", "6.1 GB": of thousands, as gigabytes_text.
inline std::string bytes_text(Bytes bytes) {
  const auto value = static_cast<double>(bytes.value);
  if (value >= 1e9) return gigabytes_text(bytes);
  if (value >= 1e6) return fixed_text(value / 1e6, 1) + " MB";
  if (value >= 1e3) return fixed_text(value / 1e3, 0) + " kB";
  return std::to_string(bytes.value) + " bytes";
}

}  // namespace tutti
