#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// "5 €" and "EUR 10" become one token, with the sign first as in "€5".
void join_amount(EnglishCursor& text) {
  const auto next = text.core(1);
  const auto is_number = [](std::string_view word) { return !word.empty() && is_ascii_digit(word.back()); };
  const bool is_rupees = text.core(0) == "Rs" && text.token(0)->behind == ".";  // "Rs. 4,500"
  const bool is_near = (text.token(0)->behind.empty() || is_rupees) && !next.empty() && !text.token(1)->is_opened;
  const bool is_sign_first = !currency_sign(text.core(0)).empty() && is_number(next);
  const bool is_sign_behind = is_number(text.core(0)) && !currency_sign(next.substr(0, next.find('/'))).empty();
  std::string amount(text.core(0));
  if (is_near && (is_sign_first || is_sign_behind)) {
    amount += next;
    text.advance();
  }
  text.replace_core(amount_with_sign_first(amount));
}

/// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5".
bool read_amount_of_money(EnglishCursor& text) {
  std::string_view rest = text.core(0);
  std::size_t sign_size = 0;
  const Currency* currency = currency_at_front(rest, sign_size);
  if (!currency) return false;
  rest.remove_prefix(sign_size);
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  const auto number = number_at_front(rest);
  if (number.empty()) return false;
  if (is_negative) text.add_words("minus");
  const std::string plain = without_commas(number);
  const auto behind = rest.substr(number.size());
  const auto dash = behind.find('-');
  const auto first_scale = dash != behind.npos && dash > 0 ? scale_name(behind.substr(0, dash)) : std::nullopt;
  if (first_scale) {  // "$50K-$60K"
    std::size_t size = 0;
    const auto second = behind.substr(dash + 1);
    if (!currency_at_front(second, size) && number_at_front(second).empty()) return false;
    text.add_words(decimal_words(plain) + " " + std::string(*first_scale) + " to");
    text.replace_core((size > 0 ? "" : std::string(text.core(0).substr(0, sign_size))) + std::string(second));
    return read_amount_of_money(text);
  }
  if (behind.starts_with('-') && behind.size() > 2 && scale_name(behind.substr(1))) {  // "a $2-million gift"
    text.add_words(decimal_words(plain) + " " + std::string(*scale_name(behind.substr(1))) + " " +
                   std::string(currency->one));
    return true;
  }
  if (behind.size() > 1 && behind.front() == '-') {  // "$5-10": "dollars" and a scale belong to both
    std::size_t second_size = 0;
    const bool has_sign = currency_at_front(behind.substr(1), second_size) != nullptr;
    std::string second =
        (has_sign ? "" : std::string(text.core(0).substr(0, sign_size))) + std::string(behind.substr(1));
    if (!is_ascii_digit(second.back()) && !scale_name(second.substr(second.find_last_of(kDigits) + 1))) return false;
    text.add_words(decimal_words(plain) + " to");
    text.replace_core(std::move(second));
    return read_amount_of_money(text);
  }
  const auto scale = behind.empty() && text.token(0)->behind.empty() ? scale_name(text.core(1)) : scale_name(behind);
  if (scale) {
    const std::size_t last = behind.empty() ? 1 : 0;
    const bool is_attribute = text.token(last)->behind.empty() && describes_noun(text, "", last + 1);
    text.add_words(decimal_words(plain) + " " + std::string(*scale) + " " +
                   std::string(is_attribute ? currency->one : currency->many));
    if (behind.empty()) text.advance();
    return true;
  }
  if (!behind.empty()) return false;
  const auto point = plain.find('.');
  const bool has_article = text.small_before() == "a" || text.small_before() == "the";
  const bool is_whole = point == plain.npos || has_article;  // also "a $9.95 monthly fee"
  text.add_words(
      amount_words(plain, *currency, is_whole && text.token(0)->behind.empty() && describes_noun(text, "", 1)));
  return true;
}

}  // namespace

bool read_money(EnglishCursor& text) {
  join_amount(text);
  const std::string whole(text.core(0));
  const auto slash = whole.find('/');
  std::size_t sign_size = 0;
  const bool is_of_several = slash != whole.npos && is_all_digits(std::string_view(whole).substr(0, slash)) &&
                             currency_at_front(std::string_view(whole).substr(slash + 1), sign_size);
  if (is_of_several && !number_at_front(std::string_view(whole).substr(slash + 1 + sign_size)).empty()) {  // "2/$5"
    text.add_words(cardinal_words(whole.substr(0, slash)) + " for");
    text.replace_core(whole.substr(slash + 1));
    return read_money(text);
  }
  const auto rate = slash == whole.npos ? "" : whole.substr(slash + 1);
  if (rate.empty() || !std::ranges::all_of(rate, is_ascii_alphabetic)) return read_amount_of_money(text);
  text.replace_core(whole.substr(0, slash));
  if (read_amount_of_money(text)) {
    const bool is_of_power = rate == "sq" || rate == "cu";  // "$612/sq. ft."
    const auto unit = is_of_power ? unit_name(text.core(1), true) : std::nullopt;
    text.add_words("per " + (unit ? (rate == "sq" ? "square " : "cubic ") + *unit : unit_of_rate(rate)));
    if (unit) text.advance();
    text.take_point();
    return true;
  }
  text.replace_core(whole);
  return false;
}

}  // namespace tutti
