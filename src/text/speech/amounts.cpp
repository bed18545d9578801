#include "text/speech/amounts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/strings.h"
#include "text/utf8.h"

namespace tutti {
namespace {

struct Unit {
  std::string_view written;
  std::string_view one;
  std::string_view many;
};

/// Units in lower case, however they are written.
constexpr std::array<Unit, 64> kUnits{{
    {"km", "kilometer", "kilometers"},
    {"m", "meter", "meters"},
    {"cm", "centimeter", "centimeters"},
    {"mm", "millimeter", "millimeters"},
    {"kg", "kilogram", "kilograms"},
    {"g", "gram", "grams"},
    {"mg", "milligram", "milligrams"},
    {"l", "liter", "liters"},
    {"ml", "milliliter", "milliliters"},
    {"lb", "pound", "pounds"},
    {"lbs", "pound", "pounds"},
    {"oz", "ounce", "ounces"},
    {"ft", "foot", "feet"},
    {"in", "inch", "inches"},
    {"yd", "yard", "yards"},
    {"mi", "mile", "miles"},
    {"mph", "mile per hour", "miles per hour"},
    {"hz", "hertz", "hertz"},
    {"khz", "kilohertz", "kilohertz"},
    {"mhz", "megahertz", "megahertz"},
    {"ghz", "gigahertz", "gigahertz"},
    {"kb", "kilobyte", "kilobytes"},
    {"mb", "megabyte", "megabytes"},
    {"gb", "gigabyte", "gigabytes"},
    {"tb", "terabyte", "terabytes"},
    {"kw", "kilowatt", "kilowatts"},
    {"w", "watt", "watts"},
    {"v", "volt", "volts"},
    {"ms", "millisecond", "milliseconds"},
    {"s", "second", "seconds"},
    {"sec", "second", "seconds"},
    {"min", "minute", "minutes"},
    {"hr", "hour", "hours"},
    {"hrs", "hour", "hours"},
    {"mins", "minute", "minutes"},
    {"secs", "second", "seconds"},
    {"yr", "year", "years"},
    {"yrs", "year", "years"},
    {"yds", "yard", "yards"},
    {"°", "degree", "degrees"},
    {"°c", "degree celsius", "degrees celsius"},
    {"°f", "degree fahrenheit", "degrees fahrenheit"},
    {"microm", "micrometer", "micrometers"},
    {"nm", "nanometer", "nanometers"},
    {"microg", "microgram", "micrograms"},
    {"microl", "microliter", "microliters"},
    {"micros", "microsecond", "microseconds"},
    {"ns", "nanosecond", "nanoseconds"},
    {"microa", "microampere", "microamperes"},
    {"microv", "microvolt", "microvolts"},
    {"microf", "microfarad", "microfarads"},
    {"mah", "milliampere hour", "milliampere hours"},
    {"kwh", "kilowatt hour", "kilowatt hours"},
    {"kv", "kilovolt", "kilovolts"},
    {"ohm", "ohm", "ohms"},
    {"kohm", "kiloohm", "kiloohms"},
    {"mohm", "megaohm", "megaohms"},
    {"kcal", "kilocalorie", "kilocalories"},
    {"kpa", "kilopascal", "kilopascals"},
    {"db", "decibel", "decibels"},
    {"kbps", "kilobit per second", "kilobits per second"},
    {"mbps", "megabit per second", "megabits per second"},
    {"gbps", "gigabit per second", "gigabits per second"},
    {"rpm", "revolution per minute", "revolutions per minute"},
}};

/// Units that capitals tell from others, or from words.
constexpr std::array<Unit, 8> kExactUnits{{
    {"mA", "milliampere", "milliamperes"},
    {"mV", "millivolt", "millivolts"},
    {"mW", "milliwatt", "milliwatts"},
    {"MW", "megawatt", "megawatts"},
    {"GW", "gigawatt", "gigawatts"},
    {"Pa", "pascal", "pascals"},
    {"h", "hour", "hours"},
    {"mohm", "milliohm", "milliohms"},
}};

const Unit* find_unit(std::string_view written) {
  if (const auto exact = std::ranges::find(kExactUnits, written, &Unit::written); exact != kExactUnits.end())
    return &*exact;
  const std::string small = ascii_lower(written);
  const auto found = std::ranges::find(kUnits, std::string_view(small), &Unit::written);
  return found == kUnits.end() ? nullptr : &*found;
}

/// "1.234,50" and "5,50" with a point before the hundredths.
std::string with_decimal_point(std::string_view number) {
  constexpr std::size_t kHundredths = 3;
  std::string plain(number);
  const auto comma = plain.find(',');
  if (comma == plain.npos || comma + kHundredths != plain.size() ||
      !is_all_digits(std::string_view(plain).substr(comma + 1)))
    return plain;
  std::erase(plain, '.');
  plain[plain.size() - kHundredths] = '.';
  return plain;
}

}  // namespace

std::optional<std::string> unit_name(std::string_view unit, bool is_one) {
  const auto slash = unit.find('/');
  const auto* counted = find_unit(unit.substr(0, slash));
  if (!counted) return std::nullopt;
  std::string name(is_one ? counted->one : counted->many);
  if (slash == unit.npos) return name;
  const auto* per = find_unit(unit.substr(slash + 1));
  if (!per) return std::nullopt;
  return name + " per " + std::string(per->one);
}

std::string unit_of_rate(std::string_view unit) {
  const auto* known = find_unit(unit);
  return known ? std::string(known->one) : ascii_lower(unit);
}

std::optional<Currency> currency_of(char32_t sign) {
  switch (sign) {
    case U'$': return Currency{"dollar", "dollars", "cent", "cents"};
    case U'€': return Currency{"euro", "euros", "cent", "cents"};
    case U'£': return Currency{"pound", "pounds", "penny", "pence"};
    case U'¥': return Currency{"yen", "yen", "sen", "sen"};
    case U'\u20B9': return Currency{"rupee", "rupees", "paisa", "paise"};
    case U'\u20A9': return Currency{"won", "won", "jeon", "jeon"};
    case U'\u20BD': return Currency{"ruble", "rubles", "kopeck", "kopecks"};
    default: return std::nullopt;
  }
}

std::string_view currency_sign(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kCodes{{{"USD", "$"},
                                                                                 {"US$", "$"},
                                                                                 {"EUR", "\u20AC"},
                                                                                 {"GBP", "\u00A3"},
                                                                                 {"JPY", "\u00A5"},
                                                                                 {"INR", "\u20B9"},
                                                                                 {"KRW", "\u20A9"},
                                                                                 {"RUB", "\u20BD"}}};
  for (const auto& [code, sign] : kCodes)
    if (text == code || text == sign) return sign;
  return {};
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
  if (before.empty()) {
    const auto end = std::min(behind.find('/'), behind.size());  // "5€/kg"
    sign = currency_sign(behind.substr(0, end));
    behind.remove_prefix(end);
  }
  if (sign.empty()) return std::string(text);
  return std::string(sign) + (is_negative ? "-" : "") + with_decimal_point(text.substr(first, last + 1 - first)) +
         std::string(behind);
}

}  // namespace tutti
