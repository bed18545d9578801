#include "transcript/like_python.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// \uXXXX of one UTF-16 unit.
void append_escaped(std::string& out, char32_t unit) {
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += "0123456789abcdef"[unit >> shift & 0xFU];
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
    const CodePoint c = code_point_at(text, at);
    if (!is_space(c.value)) break;
    at += c.size;
  }
  return text.substr(0, at);
}

std::string_view strip(std::string_view text) {
  text.remove_prefix(leading_space(text).size());
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && continues(text[last])) --last;
    const CodePoint c = code_point_at(text, last);
    if (last + c.size != text.size() || !is_space(c.value)) break;
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
  for (std::size_t at = 0; at < utf8.size();) {
    const CodePoint c = code_point_at(utf8, at);
    append_json(out, c.value);
    at += c.size;
  }
  return out += '"';
}

std::span<const std::int32_t> last_of(std::span<const std::int32_t> list, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(list.size());
  const std::int64_t from = count > 0 ? std::max<std::int64_t>(size - count, 0) : std::min(-count, size);
  return list.subspan(static_cast<std::size_t>(from));
}

double round_even(double value) {
  return std::nearbyint(value);
}

}  // namespace tutti
