#include <utf8proc.h>

#include <algorithm>
#include <span>

#include "text/code_points.h"

namespace tutti {
namespace {

utf8proc_category_t category_of(char32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
}

struct Range {
  char32_t first, last;
};

// Assigned by Unicode 15.1 and 16.0: tiktoken knows 16.0, utf8proc 2.8 stops at 15.0.
constexpr Range kRecentLetters[] = {
    {0x1C89, 0x1C8A},   {0xA7CB, 0xA7CD},   {0xA7DA, 0xA7DC},   {0x105C0, 0x105F3}, {0x10D4A, 0x10D65},
    {0x10D6F, 0x10D85}, {0x10EC2, 0x10EC4}, {0x11380, 0x11389}, {0x1138B, 0x1138B}, {0x1138E, 0x1138E},
    {0x11390, 0x113B5}, {0x113B7, 0x113B7}, {0x113D1, 0x113D1}, {0x113D3, 0x113D3}, {0x11BC0, 0x11BE0},
    {0x13460, 0x143FA}, {0x16100, 0x1611D}, {0x16D40, 0x16D6C}, {0x18CFF, 0x18CFF}, {0x1E5D0, 0x1E5ED},
    {0x1E5F0, 0x1E5F0}, {0x2EBF0, 0x2EE5D},
};
constexpr Range kRecentNumbers[] = {
    {0x10D40, 0x10D49}, {0x116D0, 0x116E3}, {0x11BF0, 0x11BF9}, {0x16130, 0x16139},
    {0x16D70, 0x16D79}, {0x1CCF0, 0x1CCF9}, {0x1E5F1, 0x1E5FA},
};

bool is_in(std::span<const Range> ranges, char32_t value) {
  return std::ranges::any_of(ranges, [&](Range range) { return value >= range.first && value <= range.last; });
}

}  // namespace

bool is_letter(char32_t value) {
  if (value < 0x80) return (value | 0x20) >= 'a' && (value | 0x20) <= 'z';
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return true;
    case UTF8PROC_CATEGORY_CN: return is_in(kRecentLetters, value);
    default: return false;
  }
}

bool is_number(char32_t value) {
  if (value < 0x80) return value >= '0' && value <= '9';
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
    case UTF8PROC_CATEGORY_CN: return is_in(kRecentNumbers, value);
    default: return false;
  }
}

bool is_white_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= 0x09 && value <= 0x0D);
  switch (value) {
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000: return true;
    default: return value >= 0x2000 && value <= 0x200A;
  }
}

bool is_space(char32_t value) {
  return is_white_space(value) || (value >= 0x1C && value <= 0x1F);
}

bool is_word_character(char32_t value) {
  return value == U'_' || is_letter(value) || is_number(value);
}

bool is_decimal(char32_t value) {
  return category_of(value) == UTF8PROC_CATEGORY_ND;
}

int decimal_value(char32_t value) {
  // Decimals stand in rows of ten from 0 to 9; several rows may touch.
  char32_t first = value;
  while (first > 0 && is_decimal(first - 1)) --first;
  return static_cast<int>((value - first) % 10);
}

LetterCase case_of(char32_t value) {
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_LL: return LetterCase::small;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return LetterCase::capital;
    default: return LetterCase::none;
  }
}

GeneralClass class_of(char32_t value) {
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_MN: return GeneralClass::mark_nonspacing;
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return GeneralClass::mark;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO: return GeneralClass::symbol;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return GeneralClass::punctuation;
    default: return GeneralClass::other;
  }
}

}  // namespace tutti
