#include "text/speech/sign_cuts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
#include "text/speech/digit_groups.h"
#include "text/speech/signs.h"

namespace tutti {
namespace {

/// What is right before a sign, and right behind it: what it calculates with.
std::string_view last_part(std::string_view left) {
  const auto at = left.find_last_of("=<>(+*^");
  return at == left.npos ? left : left.substr(at + 1);
}

std::string_view first_part(std::string_view right) {
  return right.substr(0, right.find_first_of("=<>!,.;:?)+*^"));
}

/// Whether "-" and "/" calculate in a word such as "5-3" or "a/b".
bool calculates(const SignedWord& word, char sign, std::string_view left, std::string_view right) {
  const bool is_at_bracket = left.ends_with(')') || right.starts_with('(');
  const auto before = last_part(left), behind = first_part(right);
  const auto first = value_of(before), second = value_of(behind);
  const bool is_before = is_variable(before) || first || left.ends_with(')');
  const bool is_behind = is_variable(behind) || second || right.starts_with('(');
  if (is_at_bracket) return is_before && is_behind;
  if (!has_relation(word.text) && !word.is_beside_relation) return false;
  if (left.find(sign, 1) != left.npos || behind.find(sign, 1) != behind.npos) return false;  // "2024-03-15"
  if (!first || !second) return is_before && is_behind;
  if (sign == '/') return *first >= *second;  // "1/2 = 0.5" is a fraction
  return has_relation(right) || *first > *second;
}

/// "2.5e+3" and "08:00+02:00": the sign of a power of ten, or of a zone of time.
bool is_of_number(std::string_view left, std::string_view right) {
  if (left.find(':') != left.npos) return true;
  const bool has_e = left.ends_with('e') || left.ends_with('E');
  return has_e && left.size() > 1 && is_ascii_digit(left[left.size() - 2]) && !right.empty() &&
         is_ascii_digit(right[0]);
}

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool begins_with_relation(std::string_view text) {
  const Sign* sign = sign_at_front(text);
  return sign && is_relation(*sign);
}

bool has_relation(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at)
    if (begins_with_relation(text.substr(at))) return true;
  return false;
}

std::optional<double> value_of(std::string_view number) {
  std::string plain(number);
  std::erase(plain, ',');
  double value = 0;
  const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  const bool is_number = !plain.empty() && is_ascii_digit(plain.front()) && read.ptr == plain.data() + plain.size();
  return is_number ? std::optional(value) : std::nullopt;
}

bool is_variable(std::string_view text) {
  return text.size() == 1 && is_ascii_alphabetic(text.front());
}

bool is_cut_at(const SignedWord& word, std::size_t at, std::string_view sign) {
  constexpr auto kPartsOfWords =
      std::to_array<std::string_view>({"#", "@", "%", "\\", "^", "++", "\u00B0", "\u00A2", "\u2030", "\u00AE"});
  const auto left = word.text.substr(0, at), right = word.text.substr(at + sign.size());
  const Sign& known = *sign_at_front(sign);
  if (is_relation(known)) return true;
  if (right.empty() || std::ranges::find(kPartsOfWords, sign) != kPartsOfWords.end()) return false;
  const char before = left.empty() ? ' ' : left.back(), next = right.front();
  const bool is_number_behind = !number_at_front(right).empty();
  if (left.empty() || before == '(') {  // before what it belongs to
    if (sign == "!") return is_ascii_alphabetic(next) || next == '(';
    if (sign == "~") return is_number_behind || next == '$' || is_beyond_ascii(next);
    return !known.before.empty() &&
           (sign.size() > 1 || std::string_view("+-&").find(sign.front()) == std::string_view::npos);
  }
  const bool is_behind = is_ascii_alphabetic(before) || is_ascii_digit(before) || before == ')' || before == ']' ||
                         is_beyond_ascii(before);
  const bool is_ahead = is_ascii_alphabetic(next) || is_number_behind || next == '(' || next == '$' ||
                        is_beyond_ascii(next) || (next == '-' && !number_at_front(right.substr(1)).empty());
  if (!is_behind || !is_ahead || known.between.empty() || is_of_number(left, right)) return false;
  if (sign == "-" || sign == "/") return calculates(word, sign.front(), left, right);
  const bool is_of_unit = (sign == "\u00B7" || sign == "\u22C5") && is_ascii_alphabetic(before);
  return !is_of_unit;
}

}  // namespace tutti
