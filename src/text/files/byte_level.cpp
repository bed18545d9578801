#include <array>
#include <cstdint>

#include "text/files/vocabulary_files.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::size_t kCharacters = 0x144;

/// GPT-2's table: printable bytes stand for themselves, the others follow 0xFF.
constexpr std::array<char32_t, 256> character_of_byte() {
  std::array<char32_t, 256> characters{};
  char32_t shifted = 0x100;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    characters[byte] = printable ? static_cast<char32_t>(byte) : shifted++;
  }
  return characters;
}

/// By character, -1 where none.
constexpr std::array<std::int16_t, kCharacters> byte_of_character() {
  std::array<std::int16_t, kCharacters> bytes{};
  bytes.fill(-1);
  const auto characters = character_of_byte();
  for (std::size_t byte = 0; byte < 256; ++byte) bytes[characters[byte]] = static_cast<std::int16_t>(byte);
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

std::string byte_level_of_bytes(std::string_view bytes) {
  static constexpr auto kCharactersOf = character_of_byte();
  std::string text;
  for (const char byte : bytes) append_utf8(text, kCharactersOf[static_cast<unsigned char>(byte)]);
  return text;
}

}  // namespace tutti
