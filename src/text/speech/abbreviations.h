#pragma once

#include <optional>
#include <string_view>

namespace tutti {

// What English writes shortly, by what it is written with, without the point behind them.

/// "Mr" is "mister", "etc" "et cetera". `next_is_name`: whether a word with a capital follows, for "St" and "Dr".
/// `has_point`: some are short only with a point behind them ("No.", "in.").
std::optional<std::string_view> long_form(std::string_view word, bool has_point, bool next_is_name);

/// A unit behind a number: "km" is "kilometer", or "kilometers" for other numbers than one.
std::optional<std::string_view> unit_name(std::string_view unit, bool is_one);

/// The month of its name or its short form, which begin with a capital: "Nov" is "november".
std::optional<std::string_view> month_name(std::string_view word);

/// The month by its number, 1 to 12.
std::string_view month_name(int number);

/// A sign that is read as a word: "&" is "and".
std::optional<std::string_view> sign_name(char32_t sign);

/// The name of a currency's sign for one and for more, and of its hundredth.
struct Currency {
  std::string_view one;
  std::string_view many;
  std::string_view cent;
  std::string_view cents;
};
std::optional<Currency> currency_of(char32_t sign);

}  // namespace tutti
