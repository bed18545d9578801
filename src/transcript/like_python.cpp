#include "transcript/like_python.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tutti {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// First code point of a non-empty `text`; a byte that starts none counts as U+FFFD.
CodePoint first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {kReplacement, 1};
  char32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (!continues(text[i])) return {kReplacement, 1};
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {value, size};
}

/// str.isspace() of one character.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

void append_escaped(std::string& out, char32_t unit) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(unit));
  out += text.data();
}

void append_json(std::string& out, char32_t c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\f': out += "\\f"; return;
    case '\b': out += "\\b"; return;
    default: break;
  }
  if (c >= 0x20 && c < 0x7F) {
    out += static_cast<char>(c);
  } else if (c < 0x10000) {
    append_escaped(out, c);
  } else {
    append_escaped(out, 0xD800 + ((c - 0x10000) >> 10));
    append_escaped(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
  }
}

/// Digits d1 d2 d3... with the decimal point behind the first `point` of them.
std::string positional(const std::string& digits, int point) {
  const auto count = static_cast<int>(digits.size());
  if (point <= 0) return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  if (point >= count) return digits + std::string(static_cast<std::size_t>(point - count), '0') + ".0";
  return digits.substr(0, static_cast<std::size_t>(point)) + "." + digits.substr(static_cast<std::size_t>(point));
}

}  // namespace

std::string_view leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = first_of(text.substr(at));
    if (!is_space(c.value)) break;
    at += c.bytes;
  }
  return text.substr(0, at);
}

std::string_view strip(std::string_view text) {
  text.remove_prefix(leading_space(text).size());
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && continues(text[last])) --last;
    if (!is_space(first_of(text.substr(last)).value)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::size_t characters(std::string_view utf8) {
  std::size_t count = 0;
  for (const char byte : utf8) count += continues(byte) ? 0 : 1;
  return count;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return out.append(text);
}

std::string float_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::array<char, 32> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string text(buffer.data(), written.ptr);  // d[.ddd]e±xx
  const std::size_t e = text.find('e');
  const std::string sign = text.front() == '-' ? "-" : "";
  const std::string digits = replaced(text.substr(sign.size(), e - sign.size()), ".", "");
  const int exponent = std::stoi(text.substr(e + 1));
  // float.__repr__ turns to exponents outside [1e-4, 1e16).
  if (exponent >= -4 && exponent < 16) return sign + positional(digits, exponent + 1);
  return text;
}

std::string json_text(std::string_view utf8) {
  std::string out = "\"";
  while (!utf8.empty()) {
    const CodePoint c = first_of(utf8);
    append_json(out, c.value);
    utf8.remove_prefix(c.bytes);
  }
  return out += '"';
}

double round_even(double value) {
  return std::nearbyint(value);
}

}  // namespace tutti
