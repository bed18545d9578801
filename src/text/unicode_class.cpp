#include "text/unicode_class.h"

#include <utf8proc.h>

namespace tutti {
namespace {

utf8proc_category_t category_of(char32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
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
    default: return false;
  }
}

bool is_number(char32_t value) {
  if (value < 0x80) return value >= '0' && value <= '9';
  switch (category_of(value)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
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

}  // namespace tutti
