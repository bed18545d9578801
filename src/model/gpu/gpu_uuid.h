#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tutti {

/// A GPU's UUID as NVML and nvidia-smi write it, eight, four, four, four and twelve hexadecimal digits:
/// "GPU-8ba2f4d1-0c3e-...".
inline std::string gpu_uuid_text(std::span<const std::byte, 16> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "GPU";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

}  // namespace tutti
