#include "text/speech/amounts.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/strings.h"
#include "text/speech/number_words.h"
#include "text/utf8.h"

namespace tutti {
namespace {

struct NamedCurrency {
  std::string_view sign;
  std::string_view code;
  Currency names;
};

/// The first one of a sign is the one that the sign alone means.
constexpr auto kCurrencies = std::to_array<NamedCurrency>({
    {"$", "USD", {"dollar", "dollars", "cent", "cents"}},
    {"$", "US$", {"dollar", "dollars", "cent", "cents"}},
    {"\u20AC", "EUR", {"euro", "euros", "cent", "cents"}},
    {"\u00A3", "GBP", {"pound", "pounds", "penny", "pence"}},
    {"\u00A5", "JPY", {"yen", "yen", "sen", "sen"}},
    {"\u20B9", "INR", {"rupee", "rupees", "paisa", "paise"}},
    {"\u20B9", "Rs", {"rupee", "rupees", "paisa", "paise"}},
    {"\u20A9", "KRW", {"won", "won", "jeon", "jeon"}},
    {"\u20BD", "RUB", {"ruble", "rubles", "kopeck", "kopecks"}},
    {"\u20BA", "TL", {"lira", "lira", "kurus", "kurus"}},
    {"\u20B4", "UAH", {"hryvnia", "hryvnias", "kopiyka", "kopiykas"}},
    {"\u20AA", "ILS", {"shekel", "shekels", "agora", "agorot"}},
    {"\u20A6", "NGN", {"naira", "naira", "kobo", "kobo"}},
    {"\u20B1", "PhP", {"peso", "pesos", "centavo", "centavos"}},
    {"\u20AB", "VND", {"dong", "dong", "xu", "xu"}},
    {"\u0E3F", "THB", {"baht", "baht", "satang", "satang"}},
    {"\u20BF", "BTC", {"bitcoin", "bitcoins", "cent", "cents"}},
    {"CHF", "CHF", {"swiss franc", "swiss francs", "centime", "centimes"}},
    {"CNY", "CNY", {"yuan", "yuan", "fen", "fen"}},
    {"CAD", "CAD", {"canadian dollar", "canadian dollars", "cent", "cents"}},
    {"CAD", "C$", {"canadian dollar", "canadian dollars", "cent", "cents"}},
    {"AUD", "AU$", {"australian dollar", "australian dollars", "cent", "cents"}},
    {"CAD", "CA$", {"canadian dollar", "canadian dollars", "cent", "cents"}},
    {"AUD", "A$", {"australian dollar", "australian dollars", "cent", "cents"}},
    {"AUD", "AUD", {"australian dollar", "australian dollars", "cent", "cents"}},
    {"NZD", "NZD", {"new zealand dollar", "new zealand dollars", "cent", "cents"}},
    {"SEK", "SEK", {"swedish krona", "swedish kronor", "ore", "ore"}},
    {"NOK", "NOK", {"norwegian krone", "norwegian kroner", "ore", "ore"}},
    {"DKK", "DKK", {"danish krone", "danish kroner", "ore", "ore"}},
    {"PLN", "PLN", {"zloty", "zlotys", "grosz", "groszy"}},
    {"MXN", "MXN", {"mexican peso", "mexican pesos", "centavo", "centavos"}},
    {"BRL", "BRL", {"real", "reais", "centavo", "centavos"}},
    {"BRL", "R$", {"real", "reais", "centavo", "centavos"}},
    {"HKD", "HKD", {"hong kong dollar", "hong kong dollars", "cent", "cents"}},
    {"HKD", "HK$", {"hong kong dollar", "hong kong dollars", "cent", "cents"}},
    {"SGD", "SGD", {"singapore dollar", "singapore dollars", "cent", "cents"}},
    {"SGD", "S$", {"singapore dollar", "singapore dollars", "cent", "cents"}},
    {"TWD", "TWD", {"taiwan dollar", "taiwan dollars", "cent", "cents"}},
    {"NZD", "NZ$", {"new zealand dollar", "new zealand dollars", "cent", "cents"}},
    {"TWD", "NT$", {"taiwan dollar", "taiwan dollars", "cent", "cents"}},
    {"MXN", "MX$", {"mexican peso", "mexican pesos", "centavo", "centavos"}},
    {"CNY", "RMB", {"yuan", "yuan", "fen", "fen"}},
    {"ZAR", "ZAR", {"rand", "rand", "cent", "cents"}},
});

/// "1.234,50" and "5,50" with a point before the hundredths.
std::string with_decimal_point(std::string_view number, bool is_sign_behind) {
  constexpr std::size_t kHundredths = 3, kThousand = 4;
  std::string plain(number);
  const auto point = plain.find('.');
  const bool is_in_groups = point != plain.npos && point > 0 && point < kThousand && plain.front() != '0' &&
                            plain.size() == point + kThousand &&
                            is_all_digits(std::string_view(plain).substr(point + 1));
  if (is_sign_behind && is_in_groups) std::erase(plain, '.');  // "1.500 \u20AC"
  const auto comma = plain.find(',');
  if (comma == plain.npos || comma + kHundredths != plain.size() ||
      !is_all_digits(std::string_view(plain).substr(comma + 1)))
    return plain;
  std::erase(plain, '.');
  plain[plain.size() - kHundredths] = '.';
  return plain;
}

}  // namespace

const Currency* currency_at_front(std::string_view text, std::size_t& size) {
  for (const auto& currency : kCurrencies) {
    if (!text.starts_with(currency.sign)) continue;
    size = currency.sign.size();
    return &currency.names;
  }
  return nullptr;
}

std::string amount_words(std::string_view plain, const Currency& currency, bool is_one) {
  constexpr std::size_t kHundredths = 3;
  const auto point = plain.find('.');
  const auto whole = plain.substr(0, point);
  const std::string unit(is_one || whole == "1" ? currency.one : currency.many);
  if (point == plain.npos) return cardinal_words(whole) + " " + unit;
  if (plain.size() - point != kHundredths) return decimal_words(plain) + " " + std::string(currency.many);
  const auto cents = std::to_string(std::stoi(std::string(plain.substr(point + 1))));
  if (cents == "0") return cardinal_words(whole) + " " + unit;
  const auto behind =
      cardinal_words(cents) + " " + std::string(cents == "1" || is_one ? currency.cent : currency.cents);
  return whole == "0" ? behind : cardinal_words(whole) + " " + unit + " and " + behind;
}

std::string_view currency_sign(std::string_view text) {
  for (const auto& currency : kCurrencies)
    if (text == currency.code || text == currency.sign) return currency.sign;
  return {};
}

std::u32string_view currency_characters() {
  return U"$\u20AC\u00A3\u00A5\u20B9\u20A9\u20BD\u20BA\u20B4\u20AA\u20A6\u20B1\u20AB\u20BF\u0E3F";
}

std::string amount_with_sign_first(std::string_view text) {
  const auto first = text.find_first_of("0123456789"), last = text.find_last_of("0123456789");
  if (first == text.npos) return std::string(text);
  auto before = text.substr(0, first);
  std::string_view behind = text.substr(last + 1);
  const bool is_negative = before.starts_with('-') || before.ends_with('-');
  if (before.starts_with('-'))
    before.remove_prefix(1);
  else if (is_negative)
    before.remove_suffix(1);
  auto sign = currency_sign(before);
  const bool is_sign_behind = before.empty();
  if (is_sign_behind) {
    const auto end = std::min(behind.find('/'), behind.size());  // "5€/kg"
    sign = currency_sign(behind.substr(0, end));
    behind.remove_prefix(end);
  }
  if (sign.empty()) return std::string(text);
  return std::string(sign) + (is_negative ? "-" : "") +
         with_decimal_point(text.substr(first, last + 1 - first), is_sign_behind) + std::string(behind);
}

}  // namespace tutti
