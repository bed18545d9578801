#include <algorithm>

#include "base/strings.h"
#include "text/english/numbers.h"

namespace tutti {

std::string trimmed_digits(std::string_view digits) {
  const std::size_t first = digits.find_first_not_of('0');
  return first == digits.npos ? "0" : std::string(digits.substr(first));
}

std::string add_digits(std::string_view a, std::string_view b) {
  std::string sum;
  int carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry > 0; ++i) {
    if (i < a.size()) carry += a[a.size() - 1 - i] - '0';
    if (i < b.size()) carry += b[b.size() - 1 - i] - '0';
    sum.push_back(static_cast<char>('0' + carry % 10));
    carry /= 10;
  }
  std::ranges::reverse(sum);
  return trimmed_digits(sum);
}

bool ends_in_zeros(std::string_view digits, std::size_t zeros) {
  const std::size_t last = digits.find_last_not_of('0');
  return last == digits.npos || digits.size() - 1 - last >= zeros;
}

std::string multiply_rest(std::string_view value, std::size_t zeros) {
  const std::size_t cut = value.size() > 3 ? value.size() - 3 : 0;
  const std::string thousands = cut > 0 ? std::string(value.substr(0, cut)) + "000" : "0";
  return add_digits(thousands, std::string(value.substr(cut)) + std::string(zeros, '0'));
}

std::optional<std::string> shift_point(std::string_view text, std::size_t zeros) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string_view part = text.substr(std::min(point + 1, text.size()));
  if (!is_all_digits(std::string(whole) + std::string(part))) return std::nullopt;
  while (part.ends_with('0')) part.remove_suffix(1);
  if (part.size() > zeros) return std::nullopt;
  return trimmed_digits(std::string(whole) + std::string(part) + std::string(zeros - part.size(), '0'));
}

bool is_numeric(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == text.npos) return is_all_digits(text);
  const std::string_view part = text.substr(point + 1);
  return is_all_digits(text.substr(0, point)) && is_all_digits(part);
}

std::optional<std::string> whole_number(std::string_view text) {
  return shift_point(text, 0);
}

}  // namespace tutti
