#include "text/byte_order_mark.h"

#include <algorithm>

#include "text/utf8.h"

namespace tutti {
namespace {

bool is_high(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::optional<std::string> utf8_of_utf16(std::string_view bytes) {
  const bool little = bytes.starts_with("\xFF\xFE"), big = bytes.starts_with("\xFE\xFF");
  if (!little && !big) return std::nullopt;
  if (bytes.starts_with(std::string_view("\xFF\xFE\0\0", 4))) return std::nullopt;  // UTF-32, whose mark begins alike
  const auto unit_at = [&](std::size_t at) -> char32_t {
    if (at + 1 >= bytes.size()) return CodePoint::kReplacement;
    const char32_t first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
    return little ? first | (second << 8U) : (first << 8U) | second;
  };
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    const char32_t unit = unit_at(at);
    if (is_high(unit) && is_low(unit_at(at + 2))) {
      append_utf8(out, 0x10000 + ((unit - 0xD800) << 10U) + (unit_at(at + 2) - 0xDC00));
      at += 2;
    } else {
      append_utf8(out, is_high(unit) || is_low(unit) ? CodePoint::kReplacement : unit);
    }
  }
  return out;
}

std::optional<std::string> utf8_of_unmarked_utf16(std::string_view bytes) {
  if (bytes.size() < 4 || bytes.size() % 2 != 0 || bytes.find('\0') == bytes.npos) return std::nullopt;
  std::size_t even = 0, odd = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    even += bytes[at] == '\0' ? 1U : 0U;
    odd += bytes[at + 1] == '\0' ? 1U : 0U;
  }
  const std::size_t units = bytes.size() / 2;
  if (4 * std::max(even, odd) < 3 * units || 20 * std::min(even, odd) > units) return std::nullopt;
  return utf8_of_utf16((odd > even ? "\xFF\xFE" : "\xFE\xFF") + std::string(bytes));
}

}  // namespace tutti
