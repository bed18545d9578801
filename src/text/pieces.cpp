#include "text/pieces.h"

#include <array>

#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

enum class Kind { letter, number, space, other };

Kind kind_of(char32_t value) {
  if (is_letter(value)) return Kind::letter;
  if (is_number(value)) return Kind::number;
  return is_white_space(value) ? Kind::space : Kind::other;
}

/// Bytes of the longest run of one kind from `at` on.
std::size_t run(std::string_view text, std::size_t at, Kind kind) {
  std::size_t end = at;
  while (end < text.size()) {
    const CodePoint point = code_point_at(text, end);
    if (kind_of(point.value) != kind) break;
    end += point.size;
  }
  return end - at;
}

std::size_t contraction(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kEndings = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view ending : kEndings)
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

/// White space before a word leaves its last character to that word (only U+0020 then joins it).
std::size_t white_space(std::string_view text) {
  const std::size_t all = run(text, 0, Kind::space);
  if (all == text.size()) return all;
  std::size_t last = all - 1;
  while ((static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
  return last == 0 ? all : last;
}

}  // namespace

std::size_t first_piece(std::string_view text) {
  if (const std::size_t size = contraction(text)) return size;
  const std::size_t lead = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Kind kind = kind_of(code_point_at(text, lead).value);
  return kind == Kind::space ? white_space(text) : lead + run(text, lead, kind);
}

}  // namespace tutti
