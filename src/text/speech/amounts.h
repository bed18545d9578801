#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti {

// What numbers count: units and currencies, as they are written and as they are read aloud. All functions are pure.

/// A unit behind a number: "km" is "kilometer", or "kilometers" for other numbers than one. "m/s" is "meters per
/// second". Micro is written "micro" and ohm "ohm" ("microm", "kohm"). None for text that is no unit.
std::optional<std::string> unit_name(std::string_view unit, bool is_one);

/// What is behind a "per": "hr" is "hour", any other word itself.
std::string unit_of_rate(std::string_view unit);

/// The name of a currency's sign for one and for more, and of its hundredth.
struct Currency {
  std::string_view one;
  std::string_view many;
  std::string_view cent;
  std::string_view cents;
};
std::optional<Currency> currency_of(char32_t sign);

/// The sign of a currency's code or of the sign itself: "USD" is "$". Empty for other text.
std::string_view currency_sign(std::string_view text);

/// An amount with its sign first: "5,50€" and "€5,50" are "€5.50", "US$5" is "$5", "-$5" is "$-5", "EUR10" is "€10".
/// Text that is no such amount is as it was given.
std::string amount_with_sign_first(std::string_view text);

}  // namespace tutti
