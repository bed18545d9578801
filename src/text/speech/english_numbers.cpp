#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// "(212) 555-0199".
bool read_area_and_number(EnglishCursor& text) {
  const auto groups = split(text.core(1), '-');
  if (text.core(0).size() != 3 || groups.size() != 2 || groups[0].size() != 3 || groups[1].size() != 4 ||
      !std::ranges::all_of(groups, is_all_digits))
    return false;
  text.add_words(digit_words(text.core(0)));
  text.add_mark(',');
  for (const auto group : groups) text.add_words(digit_words(group));
  text.advance();
  return true;
}

/// "5 €" and "EUR 10" become one token, with the sign first as in "€5".
void join_amount(EnglishCursor& text) {
  const auto next = text.core(1);
  const auto is_number = [](std::string_view word) { return !word.empty() && is_ascii_digit(word.back()); };
  const bool is_near = text.token(0)->behind.empty() && !next.empty() && !text.token(1)->is_opened;
  const bool is_sign_first = !currency_sign(text.core(0)).empty() && is_number(next);
  const bool is_sign_behind = is_number(text.core(0)) && !currency_sign(next.substr(0, next.find('/'))).empty();
  std::string amount(text.core(0));
  if (is_near && (is_sign_first || is_sign_behind)) {
    amount += next;
    text.advance();
  }
  text.replace_core(amount_with_sign_first(amount));
}

bool read_amount(EnglishCursor& text, const std::string& plain, const Currency& currency) {
  const auto point = plain.find('.');
  const auto whole = plain.substr(0, point);
  const bool has_cents = point != plain.npos && plain.size() - point == 3;
  if (point != plain.npos && !has_cents) {
    text.add_words(decimal_words(plain) + " " + std::string(currency.many));
    return true;
  }
  text.add_words(cardinal_words(whole) + " " + std::string(whole == "1" ? currency.one : currency.many));
  const auto cents = has_cents ? plain.substr(point + 1) : "00";
  if (cents == "00") return true;
  const auto value = std::to_string(std::stoi(cents));
  text.add_words("and " + cardinal_words(value) + " " + std::string(value == "1" ? currency.cent : currency.cents));
  return true;
}

/// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5".
bool read_amount_of_money(EnglishCursor& text) {
  std::string_view rest = text.core(0);
  const auto sign = rest.empty() ? CodePoint{} : code_point_at(rest, 0);
  const auto currency = currency_of(sign.value);
  if (!currency) return false;
  rest.remove_prefix(sign.size);
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  const auto number = number_at_front(rest);
  if (number.empty()) return false;
  if (is_negative) text.add_words("minus");
  const std::string plain = without_commas(number);
  const auto behind = rest.substr(number.size());
  if (behind.size() > 1 && behind.front() == '-') {  // "$5-10": "dollars" and a scale belong to both
    const bool has_sign = currency_of(code_point_at(behind, 1).value).has_value();
    std::string second =
        (has_sign ? "" : std::string(text.core(0).substr(0, sign.size))) + std::string(behind.substr(1));
    if (!is_ascii_digit(second.back()) && !scale_name(second.substr(second.find_last_of(kDigits) + 1))) return false;
    text.add_words(decimal_words(plain) + " to");
    text.replace_core(std::move(second));
    return read_amount_of_money(text);
  }
  const auto scale = behind.empty() && text.token(0)->behind.empty() ? scale_name(text.core(1)) : scale_name(behind);
  if (scale) {
    text.add_words(decimal_words(plain) + " " + std::string(*scale) + " " + std::string(currency->many));
    if (behind.empty()) text.advance();
    return true;
  }
  return behind.empty() && read_amount(text, plain, *currency);
}

/// Units of one character, in capitals or not as they are written.
bool is_sign_of_unit(char c) {
  return std::string_view("msghVWl").find(c) != std::string_view::npos;
}

/// "5 km" and "5 in.", not "5 in the morning".
void read_unit_behind(EnglishCursor& text, bool is_one) {
  const auto unit = unit_name(text.core(1), is_one);
  const bool is_in = ascii_lower(text.core(1)) == "in" && !text.token(1)->has_point();
  const bool may_be_word = is_in || (text.core(1).size() == 1 && !is_sign_of_unit(text.core(1).front()));
  if (!unit || may_be_word || !text.token(0)->behind.empty()) return;
  text.advance();
  text.take_point();
  text.add_words(*unit);
}

/// "2 1/2 cups": the fraction belongs to the number before it.
bool read_fraction_behind(EnglishCursor& text) {
  constexpr std::size_t kMostDigits = 2;
  const auto parts = split(text.core(1), '/');
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_all_digits) || !text.token(0)->behind.empty()) return false;
  const auto above = parts[0], below = parts[1];
  const bool is_below_one = above.size() < below.size() || (above.size() == below.size() && above < below);
  if (below.size() > kMostDigits || !is_below_one || above == "0") return false;
  std::string words = fraction_words(above, below);
  if (above == "1") words.replace(0, std::string_view("one").size(), words.starts_with("one e") ? "an" : "a");
  text.add_words("and " + words);
  text.advance();
  return true;
}

void read_plain_number(EnglishCursor& text, std::string_view number, const std::string& plain) {
  if (may_be_year(number)) {
    text.add_words(year_words(plain));
    return;
  }
  text.add_words(decimal_words(plain));
  const bool has_fraction = is_all_digits(plain) && read_fraction_behind(text);
  read_unit_behind(text, plain == "1" && !has_fraction);
}

/// "-20" behind "10", ":9" behind "16".
bool is_rest_of_range(std::string_view rest) {
  const auto number = number_at_front(rest.substr(1));
  const bool is_ratio = rest.front() == ':' && number.size() + 1 == rest.size();
  return !number.empty() && (rest.front() == '-' || is_ratio);
}

bool read_range(EnglishCursor& text, const std::string& first, std::string_view second) {
  const bool is_equation = second.find('=') != second.npos;  // "5-3=2"
  text.add_words((may_be_year(first) ? year_words(first) : decimal_words(first)) + (is_equation ? " minus" : " to"));
  text.replace_core(std::string(second));
  return read_time(text) || read_number(text);
}

bool read_fraction(EnglishCursor& text, const std::string& above, std::string_view rest) {
  const auto below = rest.substr(1);
  if (rest.front() != '/' || !is_all_digits(below) || !is_all_digits(above)) return false;
  const auto whole = text.core(0);
  const bool is_pair = whole == "24/7" || whole == "9/11" || whole == "50/50";
  text.add_words(is_pair ? cardinal_words(above) + " " + cardinal_words(below) : fraction_words(above, below));
  return true;
}

}  // namespace

std::string_view number_at_front(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_ascii_digit(text[end])) ++end;
  const bool in_groups = end >= 1 && end <= 3;
  const auto is_group = [&](std::size_t at) {
    return at + 3 < text.size() && text[at] == ',' && is_all_digits(text.substr(at + 1, 3)) &&
           (at + 4 == text.size() || !is_ascii_digit(text[at + 4]));
  };
  while (in_groups && is_group(end)) end += 4;
  if (end + 1 < text.size() && text[end] == '.' && is_ascii_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && is_ascii_digit(text[end])) ++end;
  }
  return text.substr(0, end);
}

std::string without_commas(std::string_view digits) {
  std::string plain(digits);
  std::erase(plain, ',');
  return plain;
}

bool may_be_year(std::string_view digits) {
  constexpr std::size_t kOfYear = 4;
  return digits.size() == kOfYear && is_all_digits(digits) && digits >= "1100" && digits <= "2099";
}

bool read_telephone(EnglishCursor& text) {
  const auto country = text.core(0);
  if (text.token(0)->is_opened && text.token(0)->behind == ")" && is_all_digits(country))
    return read_area_and_number(text);
  constexpr std::size_t kLongest = 4;
  if (country.size() < 2 || country.size() > kLongest || country.front() != '+' || !is_all_digits(country.substr(1)))
    return false;
  if (!is_all_digits(text.core(1)) || text.core(1).size() < 2 || !text.token(0)->behind.empty()) return false;
  text.add_words("plus " + digit_words(country.substr(1)));
  while (is_all_digits(text.core(1)) && text.token(0)->behind.empty()) {
    text.advance();
    text.add_mark(',');
    text.add_words(digit_words(text.core(0)));
  }
  return true;
}

bool read_groups(EnglishCursor& text) {
  const auto words = digit_group_words(text.core(0));
  if (words) text.add_words(*words);
  return words.has_value();
}

bool read_money(EnglishCursor& text) {
  join_amount(text);
  const std::string whole(text.core(0));
  const auto slash = whole.find('/');
  const auto rate = slash == whole.npos ? "" : whole.substr(slash + 1);
  if (rate.empty() || !std::ranges::all_of(rate, is_ascii_alphabetic)) return read_amount_of_money(text);
  text.replace_core(whole.substr(0, slash));
  if (read_amount_of_money(text)) {
    text.add_words("per " + unit_of_rate(rate));
    return true;
  }
  text.replace_core(whole);
  return false;
}

bool read_number(EnglishCursor& text) {
  std::string_view word = text.core(0);
  const bool is_negative = word.size() > 1 && word.front() == '-' && (is_ascii_digit(word[1]) || word[1] == '.');
  const bool is_old = word.starts_with('\'');
  if (is_negative || is_old) word.remove_prefix(1);
  const auto number = number_at_front(word);
  if (number.empty()) return false;
  const auto rest = word.substr(number.size());
  const std::string plain = without_commas(number);
  const bool is_whole = is_all_digits(plain);
  if (is_negative) text.add_words("minus");
  if (rest.empty()) {
    read_plain_number(text, number, plain);
  } else if (rest == "%") {
    text.add_words(decimal_words(plain) + " percent");
  } else if (is_whole && (rest == "st" || rest == "nd" || rest == "rd" || rest == "th")) {
    text.add_words(ordinal_words(plain));
  } else if (is_whole && (rest == "s" || rest == "'s")) {
    text.add_words(
        plural_of_number(plain.size() == 4 || plain.size() == 2 ? year_words(plain) : cardinal_words(plain)));
  } else if (const auto unit = unit_name(rest, plain == "1")) {
    text.add_words(decimal_words(plain) + " " + *unit);
  } else if (is_rest_of_range(rest)) {
    return read_range(text, plain, rest.substr(1));
  } else if (!read_fraction(text, plain, rest)) {
    text.replace_core(std::string(word));
    return false;
  }
  return true;
}

}  // namespace tutti
