#include "text/utf8.h"

namespace tutti {
namespace {

/// What a first byte announces: length of the sequence, and the range that its second byte must lie in (which rules
/// out overlong forms, surrogates and values above U+10FFFF).
struct Lead {
  std::size_t size = 0;  // 0: no sequence starts with this byte
  unsigned char second_least = 0x80;
  unsigned char second_most = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

/// How many bytes at the front are UTF-8.
std::size_t valid_start(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const CodePoint point = code_point_at(bytes, at);
    if (!point.valid) break;
    at += point.size;
  }
  return at;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead lead = lead_of(byte(at));
  if (lead.size == 1) return {byte(at), 1, true};
  if (lead.size == 0) return {CodePoint::kReplacement, 1, false};
  char32_t value = byte(at) & (0x7Fu >> lead.size);
  for (std::size_t i = 1; i < lead.size; ++i) {
    const unsigned char least = i == 1 ? lead.second_least : 0x80;
    const unsigned char most = i == 1 ? lead.second_most : 0xBF;
    if (at + i >= text.size() || byte(at + i) < least || byte(at + i) > most)
      return {CodePoint::kReplacement, i, false};
    value = (value << 6) | (byte(at + i) & 0x3Fu);
  }
  return {value, lead.size, true};
}

void append_utf8(std::string& out, char32_t value) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | ((value >> shift) & 0x3F))); };
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (value >> 6)));
    tail(0);
  } else if (value < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (value >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | (value >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_utf8(std::string_view bytes) {
  return valid_start(bytes) == bytes.size();
}

std::string replace_invalid_utf8(std::string bytes) {
  std::size_t at = valid_start(bytes);
  if (at == bytes.size()) return bytes;  // nearly always

  std::string out = bytes.substr(0, at);
  while (at < bytes.size()) {
    const CodePoint point = code_point_at(bytes, at);
    append_utf8(out, point.value);
    at += point.size;
  }
  return out;
}

std::u32string to_code_points(std::string_view utf8) {
  std::u32string out;
  out.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size();) {
    const CodePoint point = code_point_at(utf8, at);
    out.push_back(point.value);
    at += point.size;
  }
  return out;
}

std::string to_utf8(std::u32string_view code_points) {
  std::string out;
  out.reserve(code_points.size());
  for (const char32_t value : code_points) append_utf8(out, value);
  return out;
}

}  // namespace tutti
