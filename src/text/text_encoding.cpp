#include "text/text_encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/strings.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// The characters of 0x80 to 0x9F; 0: none (unicode.org/Public/MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT).
constexpr std::array<char16_t, 32> kUpperControls{0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                  0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                                  0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                  0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/// 0: none.
char32_t character_of(unsigned char byte) {
  return byte < 0x80 || byte > 0x9F ? byte : kUpperControls[byte - 0x80U];
}

bool is_high(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

/// A sign of Windows-1252 that no word has within it; encodings of other languages spell words with these bytes.
bool is_sign(char c) {
  constexpr unsigned char kSoftHyphen = 0xAD, kAcute = 0xB4, kMiddleDot = 0xB7;
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0xA0 && byte < 0xC0 && byte != kSoftHyphen && byte != kAcute && byte != kMiddleDot;
}

/// The offset of the first byte from `at` on that is not ASCII; eight at a time, for nearly all of a list is.
std::size_t next_high(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  for (; at + sizeof kHigh <= text.size(); at += sizeof kHigh) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & kHigh) != 0) break;
  }
  while (at < text.size() && !is_high(text[at])) ++at;
  return at;
}

bool ends_lines_with_cr(std::string_view text) {
  return text.find('\r') != std::string_view::npos && text.find('\n') == std::string_view::npos;
}

/// Whether bytes that are no UTF-8 may well be Windows-1252.
bool may_be_windows_1252(std::string_view text) {
  std::size_t high = 0, beside_another = 0;
  for (std::size_t at = next_high(text, 0); at < text.size(); at = next_high(text, at + 1)) {
    if (character_of(static_cast<unsigned char>(text[at])) == 0) return false;
    const char before = at > 0 ? text[at - 1] : ' ', behind = at + 1 < text.size() ? text[at + 1] : ' ';
    if (is_sign(text[at]) && is_ascii_alphabetic(before) && is_ascii_alphabetic(behind)) return false;
    ++high;
    beside_another += is_high(before) || is_high(behind) ? 1U : 0U;
  }
  return 2 * beside_another <= high && !ends_lines_with_cr(text);
}

}  // namespace

EncodingFacts encoding_of(std::string_view text) {
  EncodingFacts facts;
  bool has_utf8 = false;
  for (std::size_t at = next_high(text, 0); at < text.size(); at = next_high(text, at)) {
    const CodePoint point = code_point_at(text, at);
    has_utf8 |= point.valid;
    if (!point.valid && facts.first == std::string_view::npos) facts.first = at;
    at += point.size;
  }
  if (facts.first == std::string_view::npos) return facts;
  facts.encoding = !has_utf8 && may_be_windows_1252(text) ? TextEncoding::windows_1252 : TextEncoding::other;
  return facts;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(text.substr(0, end));
    const std::size_t size = text.substr(end).starts_with("\r\n") ? 2 : 1;
    text.remove_prefix(std::min(end + size, text.size()));
  }
  return lines;
}

std::optional<std::string> utf8_of_windows_1252(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const char32_t character = character_of(static_cast<unsigned char>(c));
    if (character == 0 && c != '\0') return std::nullopt;
    append_utf8(out, character);
  }
  return out;
}

}  // namespace tutti
