#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

/// What is at one position of a byte string: a code point, or bytes that are no UTF-8.
struct CodePoint {
  static constexpr char32_t kReplacement = 0xFFFD;

  char32_t value = 0;    // kReplacement where the bytes are not UTF-8
  std::size_t size = 0;  // bytes it takes; for broken ones the longest start of a valid sequence, at least 1
  bool valid = false;
};

/// The code point at byte `at`, which must be inside `text`. Broken bytes are grouped as Python's errors="replace"
/// does (Unicode 15, section 3.9, "substitution of maximal subparts"); surrogates and overlong forms are broken.
CodePoint code_point_at(std::string_view text, std::size_t at);

/// `value`: a Unicode scalar value.
void append_utf8(std::string& out, char32_t value);

/// Whether every byte belongs to a code point.
bool is_utf8(std::string_view bytes);

/// `bytes` with every broken sequence replaced by U+FFFD, as Python's bytes.decode("utf-8", errors="replace").
std::string replace_invalid_utf8(std::string bytes);

/// Broken bytes become U+FFFD.
std::u32string to_code_points(std::string_view utf8);
std::string to_utf8(std::u32string_view code_points);

}  // namespace tutti
