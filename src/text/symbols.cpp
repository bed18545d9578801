#include "text/symbols.h"

#include "text/code_points.h"

namespace tutti {
namespace {

/// Characters whose diacritic NFKD does not take off; empty for all others.
std::u32string_view plain_letters(char32_t value) {
  switch (value) {
    case U'œ': return U"oe";
    case U'Œ': return U"OE";
    case U'ø': return U"o";
    case U'Ø': return U"O";
    case U'æ': return U"ae";
    case U'Æ': return U"AE";
    case U'ß': return U"ss";
    case U'ẞ': return U"SS";
    case U'đ': return U"d";
    case U'Đ': return U"D";
    case U'ð': return U"d";
    case U'Ð': return U"D";
    case U'þ':
    case U'Þ': return U"th";  // in lower case, as in the reference
    case U'ł': return U"l";
    case U'Ł': return U"L";
    default: return {};
  }
}

/// Removes every [opening] [^closing]{least,} [closing], leftmost first.
std::u32string remove_enclosed(std::u32string_view text, std::u32string_view opening, std::u32string_view closing,
                               std::size_t least) {
  bool closing_left = true;  // once there is none, looking again from every bracket would cost squares
  return substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (!closing_left || opening.find(text[at]) == opening.npos) return {};
    const std::size_t end = text.find_first_of(closing, at + 1);
    closing_left = end != text.npos;
    if (!closing_left || end - at - 1 < least) return {};
    return Replacement{end + 1 - at};
  });
}

}  // namespace

std::u32string remove_symbols(std::u32string_view text) {
  std::u32string out = nfkc(text);
  for (char32_t& value : out)
    if (class_of(value) != GeneralClass::other) value = U' ';
  return out;
}

std::u32string remove_symbols_and_diacritics(std::u32string_view text, std::u32string_view keep) {
  std::u32string out;
  for (const char32_t value : nfkd(text)) {
    const GeneralClass general = class_of(value);
    const bool kept = keep.find(value) != keep.npos;
    if (const auto plain = plain_letters(value); !kept && !plain.empty())
      out += plain;
    else if (kept || general == GeneralClass::other)
      out.push_back(value);
    else if (general != GeneralClass::mark_nonspacing)
      out.push_back(U' ');
  }
  return out;
}

std::u32string remove_brackets(std::u32string_view text) {
  return remove_enclosed(remove_enclosed(text, U"<[", U">]", 0), U"(", U")", 1);
}

}  // namespace tutti
