#include <algorithm>
#include <cctype>
#include <cstddef>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/signs.h"
#include "text/symbols.h"
#include "text/utf8.h"

namespace tutti {
namespace {

bool has(std::u32string_view characters, char32_t c) {
  return characters.find(c) != characters.npos;
}

bool is_latin(char32_t c) {
  return c < 0x80 && is_ascii_alphabetic(static_cast<char>(c));
}

void name_skipped(char32_t c, std::set<std::string>& skipped) {
  std::string character;
  append_utf8(character, c);
  skipped.insert(character);
}

/// Whether a Greek character is a unit's, "5 \u03BCm" or "5 k\u03A9", and not a word's.
bool is_unit_sign(std::u32string_view text, std::size_t at) {
  const bool is_micro = text[at] == U'\u00B5' || text[at] == U'\u03BC';
  const bool has_next = at + 1 < text.size();
  const bool is_next_latin = has_next && is_latin(text[at + 1]);
  if (is_micro) return is_next_latin && (at == 0 || is_ascii_digit(text[at - 1]) || is_space(text[at - 1]));
  const auto before = at > 0 && has(U"kMGm", text[at - 1]) ? at - 1 : at;
  return (!has_next || (text[at + 1] < 0x80 && !is_next_latin)) && before > 0 &&
         (is_ascii_digit(text[before - 1]) || is_space(text[before - 1]));
}

/// The name of a Greek character that is beside no other one, with blanks that part it from what is beside it.
std::u32string lone_greek_name(std::u32string_view text, std::size_t at) {
  const auto name_at = [&](std::size_t i) { return greek_name(nfkd(text.substr(i, 1))[0]); };
  const auto name = name_at(at);
  const bool is_last = at + 1 == text.size();
  if (name.empty() || (at > 0 && !name_at(at - 1).empty()) || (!is_last && !name_at(at + 1).empty())) return {};
  const auto is_beside = [](char32_t c) { return is_latin(c) || is_ascii_digit(c); };
  std::u32string words = at > 0 && is_beside(text[at - 1]) ? U" " : U"";
  words += to_code_points(name);
  return !is_last && is_beside(text[at + 1]) ? words + U" " : words;
}

/// An en dash as in "10–20" and "Mon–Fri", or before a number that no other is before: "–3".
bool is_minus_or_range(std::u32string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return false;
  const auto before = at > 1 && text[at - 1] == U'.' ? at - 2 : at - 1;  // "Mon.\u2013Fri."
  if (at > 0 && is_latin(text[before]) &&
      (is_latin(text[at + 1]) || is_ascii_digit(text[at + 1]) || has(currency_characters(), text[at + 1])))
    return true;
  if (!is_ascii_digit(text[at + 1]) && !has(currency_characters(), text[at + 1])) return false;
  if (at == 0 || is_ascii_digit(text[at - 1]) || text[at - 1] == U'(') return true;
  return is_space(text[at - 1]) && (at == 1 || !is_ascii_digit(text[at - 2]));
}

/// "2.00\u20142.49".
bool is_between_digits(std::u32string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_ascii_digit(text[at - 1]) && is_ascii_digit(text[at + 1]);
}

/// The characters of the word that ends before `at` or begins there, points within it too.
std::string word_beside(std::u32string_view text, std::size_t at, bool is_before) {
  std::string word;
  const auto is_part = [](char32_t c) { return is_latin(c) || c == U'.'; };
  for (; is_before && at > 0 && is_part(text[at - 1]); --at) word.insert(word.begin(), static_cast<char>(text[at - 1]));
  for (; !is_before && at < text.size() && is_part(text[at]); ++at) word += static_cast<char>(text[at]);
  return word;
}

/// A dash that is "to" between what is no number: "Dec. 1-Dec. 24", "8 a.m.-5 p.m.", "20 Hz-20 kHz", "A-Z". `is_long`:
/// more than a hyphen.
bool is_to(std::u32string_view text, std::size_t at, bool is_long) {
  if (at == 0 || at + 1 >= text.size()) return false;
  const auto before = word_beside(text, at, true), behind = word_beside(text, at + 1, false);
  const bool is_digit_ahead = is_ascii_digit(text[at + 1]);
  const auto start = at - before.size();
  if (half_of_day(before)) return is_digit_ahead || (is_long && is_latin(text[at + 1]));
  const bool is_initial = before.size() == 1 && behind.size() == 1 && is_ascii_upper(before[0]) &&
                          is_ascii_upper(behind[0]) && (start == 0 || !is_ascii_digit(text[start - 1]));
  if (is_initial) return is_long || (before == "A" && behind == "Z");
  if (is_long && is_ascii_digit(text[at - 1])) return month_name(behind.substr(0, behind.find('.'))).has_value();
  const auto number = start > 0 && is_space(text[start - 1]) ? start - 1 : start;
  return is_digit_ahead && before.size() > 1 && number > 0 && is_ascii_digit(text[number - 1]) &&
         unit_name(before, true).has_value();
}

constexpr std::u32string_view kRaisedDigits = U"\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079";

/// A raised character as it is on the line; 0 for all others.
char32_t lowered(char32_t c) {
  if (const auto digit = kRaisedDigits.find(c); digit != kRaisedDigits.npos) return U'0' + static_cast<char32_t>(digit);
  switch (c) {
    case U'\u207A': return U'+';
    case U'\u207B': return U'-';
    case U'\u207F': return U'n';
    case U'\u2071': return U'i';
    default: return 0;
  }
}

/// Whether what is before a raised character may have a power: a number, a bracket, a short name or a unit. What is
/// raised behind a word is the number of a note.
bool may_have_power(std::u32string_view before) {
  std::string name;
  for (auto at = before.size(); at > 0 && is_latin(before[at - 1]); --at)
    name.insert(name.begin(), static_cast<char>(before[at - 1]));
  if (before.empty()) return false;
  const char32_t last = before.back();
  constexpr std::size_t kShort = 2;
  if (name.empty()) return is_ascii_digit(last) || last == U')' || last == U']' || !greek_name(last).empty();
  return name.size() <= kShort || unit_name(name, true).has_value();
}

/// Writes the signs of a text in their usual form.
class UsualSigns {
 public:
  UsualSigns(std::u32string_view text, std::set<std::string>& skipped) : text_(text), skipped_(skipped) {}

  std::u32string take() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char32_t c = text_[at_];
    if (lowered(c) != 0) return take_raised();
    ++at_;
    const auto at = at_ - 1;
    switch (c) {
      case kRaised: name_skipped(c, skipped_); break;
      case U'\u2018':
      case U'\u2019':
      case U'\u02BC': out_ += U'\''; break;
      case U'\u2032': out_ += is_angle() ? U" minutes " : U"'"; break;
      case U'\u2033': out_ += is_angle() ? U" seconds " : U"\""; break;
      case U'\u00BA': out_ += U'\u00B0'; break;
      case U'n':
      case U'N': take_number_sign(at); break;
      case U'\u2010':
      case U'\u2011':
      case U'\u2012': out_ += U'-'; break;
      case U'\u2212': out_ += at_ < text_.size() && is_space(text_[at_]) ? U"minus" : U"-"; break;
      case U'\u2116': out_ += U'#'; break;
      case U'\u2122': out_ += U" trademark "; break;
      case U'\u2215': out_ += U'/'; break;
      case U'\u2217': out_ += U'*'; break;
      case U'-': out_ += is_to(text_, at, false) ? U" to " : U"-"; break;
      case U'\u2013':
        if (is_to(text_, at, true)) {
          out_ += U" to ";
          break;
        }
        if (is_minus_or_range(text_, at)) {
          out_ += U'-';
          break;
        }
        [[fallthrough]];
      case U'\u2014':
      case U'\u2015': out_ += is_between_digits(text_, at) ? U"-" : U" \u2014 "; break;
      case U'\u2026': out_ += U"... "; break;
      case U'\u00B5':
      case U'\u03BC': take_unit_sign(at, U"micro"); break;
      case U'\u2126':
      case U'\u03A9': take_unit_sign(at, U"ohm"); break;
      default: take_other(at);
    }
  }

  /// "N\u00BA 5" and "n\u00B0 5" are "# 5".
  void take_number_sign(std::size_t at) {
    const bool is_sign =
        at + 1 < text_.size() && has(U"\u00BA\u00B0", text_[at + 1]) && (at == 0 || is_space(text_[at - 1]));
    out_ += is_sign ? U'#' : text_[at];
    if (is_sign) ++at_;
  }

  void take_unit_sign(std::size_t at, std::u32string_view name) {
    if (!is_unit_sign(text_, at)) return take_other(at);
    out_ += name;
  }

  void take_other(std::size_t at) {
    const char32_t c = text_[at];
    if (is_invisible(c)) return;
    if (has(sign_characters(), c)) {
      out_ += c;
      return;
    }
    if (const auto name = lone_greek_name(text_, at); !name.empty()) {
      out_ += name;
      return;
    }
    if (c >= 0x80 && has(nfkc({&c, 1}), U'\u2044')) out_ += U' ';  // "1\u00BD"
    out_ += c;
  }

  void take_raised() {
    const bool is_power = may_have_power(text_.substr(0, at_));
    if (is_power) out_ += kRaised;
    for (; at_ < text_.size() && lowered(text_[at_]) != 0; ++at_) {
      if (is_power)
        out_ += lowered(text_[at_]);
      else
        name_skipped(text_[at_], skipped_);
    }
  }

  /// Whether degrees are shortly before.
  bool is_angle() const {
    constexpr std::size_t kNear = 16;
    const auto degrees = out_.rfind(U'\u00B0');
    return degrees != out_.npos && out_.size() - degrees < kNear;
  }

  std::u32string_view text_;
  std::set<std::string>& skipped_;
  std::size_t at_ = 0;
  std::u32string out_{};
};

/// How many digits are at a position.
std::size_t digits_at(std::u32string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_ascii_digit(text[end])) ++end;
  return end - at;
}

constexpr std::size_t kGroup = 3;

/// Where a number in groups ends that begins at `at`, "10 000"; `at` where none does.
std::size_t end_of_groups(std::u32string_view text, std::size_t at) {
  constexpr std::u32string_view kParts = U" '\u00A0\u202F\u2009\u2007";
  const auto first = digits_at(text, at);
  const auto begin = at + first;
  if (first == 0 || first > kGroup || text[at] == U'0' || begin >= text.size() || !has(kParts, text[begin])) return at;
  const bool is_behind_other =
      at > 0 && (std::isalnum(static_cast<int>(std::min<char32_t>(text[at - 1], 0x80))) != 0 ||
                 has(U".,:/+'", text[at - 1]) || (at > 1 && is_space(text[at - 1]) && is_ascii_digit(text[at - 2])));
  if (is_behind_other) return at;
  auto end = begin;
  while (end < text.size() && text[end] == text[begin] && digits_at(text, end + 1) == kGroup) end += 1 + kGroup;
  if (end + 1 >= text.size() || !is_ascii_digit(text[end + 1])) return end == begin ? at : end;
  // "555 123 4567", "555 123-4567", "10 000:1": no groups, but "10 000.5", "10 000-20 000"
  const bool is_other_number =
      has(U" :/", text[end]) || (text[end] == U'-' && digits_at(text, end + 1) > kGroup) || text[end] == text[begin];
  return end == begin || is_other_number ? at : end;
}

/// Digits in groups with commas between them: "10 000,50" is "10,000.50".
std::u32string with_grouped_digits(std::u32string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = end_of_groups(text, at);
    if (end == at) {
      const auto digits = std::max<std::size_t>(digits_at(text, at), 1);
      out += text.substr(at, digits);
      at += digits;
      continue;
    }
    for (; at < end; ++at) out += is_ascii_digit(text[at]) ? text[at] : U',';
    const auto decimals = at < text.size() && text[at] == U',' ? digits_at(text, at + 1) : 0;
    if (decimals == 1 || decimals == 2) {
      out += U'.';
      ++at;
    }
  }
  return out;
}

std::u32string kept_characters() {
  std::u32string kept = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u2014\u2044";
  kept += kStroke;
  kept += sign_characters();
  kept += currency_characters();
  return kept;
}

}  // namespace

std::u32string plain_signs(std::string_view text, std::set<std::string>& skipped) {
  static const std::u32string kKept = kept_characters();
  const auto prepared = with_grouped_digits(UsualSigns(to_code_points(text), skipped).take());
  for (const char32_t c : nfkd(prepared)) {
    const bool is_sign = class_of(c) == GeneralClass::symbol || class_of(c) == GeneralClass::punctuation;
    if (c >= 0x80 && is_sign && !has(kKept, c) && !is_silent(c)) name_skipped(c, skipped);
  }
  std::u32string plain;
  for (const char32_t c : remove_symbols_and_diacritics(prepared, kKept)) {
    if (c < 0x80 || c == kRaised || has(kKept, c)) {
      plain += c == U'\u2044' ? U'/' : c;
      continue;
    }
    plain += U' ';
    if (!is_space(c)) name_skipped(c, skipped);
  }
  return plain;
}

}  // namespace tutti
