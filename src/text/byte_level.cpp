#include "text/byte_level.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace tutti {
namespace {

/// GPT-2's table, by character, -1 where none.
constexpr std::array<std::int16_t, 0x144> byte_of_character() {
  std::array<std::int16_t, 0x144> bytes{};
  bytes.fill(-1);
  std::size_t shifted = 0x100;
  for (std::int16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    bytes[printable ? static_cast<std::size_t>(byte) : shifted++] = byte;
  }
  return bytes;
}

}  // namespace

bool bytes_of_byte_level(std::string_view text, std::string& bytes) {
  static constexpr auto kBytes = byte_of_character();
  bytes.clear();
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.value >= kBytes.size() || kBytes[point.value] < 0) return false;
    bytes.push_back(static_cast<char>(kBytes[point.value]));
    at += point.size;
  }
  return true;
}

}  // namespace tutti
