#include <utf8proc.h>

#include "text/code_points.h"

namespace tutti {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kCapitalDottedI = 0x130;

utf8proc_category_t category_of(char32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
}

/// Unicode's Case_Ignorable: marks, format controls, modifiers, and what may stand inside a word (Word_Break of
/// MidLetter, MidNumLet and Single_Quote).
bool is_case_ignorable(char32_t value) {
  switch (value) {
    case 0x27:
    case 0x2E:
    case 0x3A:
    case 0xB7:
    case 0x387:
    case 0x55F:
    case 0x5F4:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
    case 0xFE13:
    case 0xFE52:
    case 0xFE55:
    case 0xFF07:
    case 0xFF0E:
    case 0xFF1A: return true;
    default: break;
  }
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return false;
  }
}

/// Unicode's Cased, of what is not case-ignorable: cased characters, ordinal indicators, Roman numerals, circled and
/// squared characters.
bool is_cased(char32_t value) {
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT: return true;
    default: break;
  }
  const auto within = [&](char32_t first, char32_t last) { return value >= first && value <= last; };
  return value == 0xAA || value == 0xBA || within(0x2160, 0x217F) || within(0x24B6, 0x24E9) ||
         within(0x1F130, 0x1F149) || within(0x1F150, 0x1F169) || within(0x1F170, 0x1F189);
}

/// A sigma is final where a cased character is before it and none after it, both over what is case-ignorable.
bool is_final(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

std::u32string lower(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char32_t value = text[at];
    if (value == kCapitalSigma && is_final(text, at)) {
      out.push_back(kFinalSigma);
    } else if (value == kCapitalDottedI) {
      out += U"i\u0307";
    } else {
      out.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(value))));
    }
  }
  return out;
}

}  // namespace tutti
