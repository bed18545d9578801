#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

// What numbers count: units of measure (units.cpp) and currencies, as they are written and as they are read aloud. All
// functions are pure.

/// A unit behind a number: "km" is "kilometer", or "kilometers" for other numbers than one. "m/s" is "meters per
/// second", "kg\u00B7m" "kilogram meters". Powers are digits, raised (signs.h) or not: "m2" is "square meters", "m/s2"
/// "meters per second squared". Micro is written "micro" and ohm "ohm" ("microm", "kohm"). None for text that is no
/// unit.
std::optional<std::string> unit_name(std::string_view unit, bool is_one);

/// Whether a unit is of mass or volume, so that a substance may be behind it: "2 kg rice", "500 ml milk".
bool is_of_substance(std::string_view unit);

/// What is behind a "per": "hr" is "hour", any other word itself.
std::string unit_of_rate(std::string_view unit);

/// Whether a character alone is a unit and no initial: "5 m" and "5m", not "5 a", "5G" or "5A". `is_tight`: no blank is
/// between it and the number.
bool may_be_unit(char unit, bool is_tight);

/// The name of a currency for one and for more, and of its hundredth.
struct Currency {
  std::string_view one;
  std::string_view many;
  std::string_view cent;
  std::string_view cents;
};
/// "3.50" is "three dollars and fifty cents"; other fractions are read digit by digit. `is_one`: "a fifty dollar bill".
std::string amount_words(std::string_view plain, const Currency& currency, bool is_one);

/// The currency whose sign `text` begins with, and the bytes of the sign; null, and `size` as it was, where none is.
const Currency* currency_at_front(std::string_view text, std::size_t& size);

/// The signs of currencies that are no alphabetic characters.
std::u32string_view currency_characters();

/// The sign of a currency's code or of the sign itself: "USD" is "$"; "CHF", which has none, is its own. Empty for
/// other text.
std::string_view currency_sign(std::string_view text);

/// An amount with its sign first: "5,50€" and "€5,50" are "€5.50", "US$5" is "$5", "-$5" is "$-5", "EUR10" is "€10".
/// Text that is no such amount is as it was given.
std::string amount_with_sign_first(std::string_view text);

}  // namespace tutti
