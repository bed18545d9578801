#include "text/speech/abbreviations.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace tutti {
namespace {

struct ShortForm {
  std::string_view written;
  std::string_view words;
};

/// Short with or without a point.
constexpr std::array<ShortForm, 31> kAlways{{
    {"mr", "mister"},        {"mrs", "missus"},       {"ms", "miz"},           {"messrs", "messieurs"},
    {"prof", "professor"},   {"rev", "reverend"},     {"capt", "captain"},     {"col", "colonel"},
    {"lieut", "lieutenant"}, {"lt", "lieutenant"},    {"sgt", "sergeant"},     {"gov", "governor"},
    {"jr", "junior"},        {"etc", "et cetera"},    {"vs", "versus"},        {"viz", "namely"},
    {"esq", "esquire"},      {"hon", "honorable"},    {"dept", "department"},  {"approx", "approximately"},
    {"ave", "avenue"},       {"blvd", "boulevard"},   {"mt", "mount"},         {"vol", "volume"},
    {"ltd", "limited"},      {"corp", "corporation"}, {"eg", "for example"},   {"ie", "that is"},
    {"e.g", "for example"},  {"i.e", "that is"},      {"inc", "incorporated"},
}};

/// Words of their own without a point.
constexpr std::array<ShortForm, 23> kWithPoint{{
    {"no", "number"},    {"nos", "numbers"},   {"gen", "general"},    {"maj", "major"},      {"sr", "senior"},
    {"co", "company"},   {"fig", "figure"},    {"ch", "chapter"},     {"sec", "section"},    {"art", "article"},
    {"pp", "pages"},     {"p", "page"},        {"ed", "edition"},     {"mon", "monday"},     {"tue", "tuesday"},
    {"tues", "tuesday"}, {"wed", "wednesday"}, {"thu", "thursday"},   {"thurs", "thursday"}, {"fri", "friday"},
    {"sat", "saturday"}, {"sun", "sunday"},    {"pres", "president"},
}};

struct Unit {
  std::string_view written;
  std::string_view one;
  std::string_view many;
};

constexpr std::array<Unit, 43> kUnits{{
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
    {"km/h", "kilometer per hour", "kilometers per hour"},
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
}};

constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};

template <class Forms>
std::optional<std::string_view> found_in(const Forms& forms, std::string_view word) {
  const auto found = std::ranges::find(forms, word, &ShortForm::written);
  if (found == forms.end()) return std::nullopt;
  return found->words;
}

}  // namespace

std::optional<std::string_view> long_form(std::string_view word, bool has_point, bool next_is_name) {
  const std::string small = ascii_lower(word);
  const bool is_capital = !word.empty() && word.front() >= 'A' && word.front() <= 'Z';
  if (is_capital && small == "st") return next_is_name ? "saint" : "street";
  if (is_capital && small == "dr") return next_is_name || !has_point ? "doctor" : "drive";
  if (word == "WWI") return "world war one";
  if (word == "WWII") return "world war two";
  // What capitals alone spell is no short form: "IE", "CO".
  const bool all_capitals = word.size() > 1 && small != word && ascii_upper(word) == word && small != "mr";
  if (all_capitals) return std::nullopt;
  if (const auto form = found_in(kAlways, small)) return form;
  return has_point ? found_in(kWithPoint, small) : std::nullopt;
}

std::optional<std::string_view> unit_name(std::string_view unit, bool is_one) {
  const std::string small = ascii_lower(unit);
  const auto found = std::ranges::find(kUnits, small, &Unit::written);
  if (found == kUnits.end()) return std::nullopt;
  return is_one ? found->one : found->many;
}

std::optional<std::string_view> month_name(std::string_view word) {
  constexpr std::size_t kShort = 3;
  if (word.size() < kShort || word.front() < 'A' || word.front() > 'Z') return std::nullopt;
  const std::string small = ascii_lower(word);
  for (const auto month : kMonths)
    if (small == month || small == month.substr(0, kShort) || (small == "sept" && month == "september")) return month;
  return std::nullopt;
}

std::string_view month_name(int number) {
  return kMonths[static_cast<std::size_t>(std::clamp(number, 1, 12) - 1)];
}

std::optional<std::string_view> sign_name(char32_t sign) {
  switch (sign) {
    case U'&': return "and";
    case U'+': return "plus";
    case U'=': return "equals";
    case U'@': return "at";
    case U'#': return "number";
    case U'%': return "percent";
    case U'°': return "degrees";
    case U'×': return "times";
    case U'÷': return "divided by";
    case U'±': return "plus or minus";
    case U'¢': return "cents";
    default: return std::nullopt;
  }
}

std::optional<Currency> currency_of(char32_t sign) {
  switch (sign) {
    case U'$': return Currency{"dollar", "dollars", "cent", "cents"};
    case U'€': return Currency{"euro", "euros", "cent", "cents"};
    case U'£': return Currency{"pound", "pounds", "penny", "pence"};
    case U'¥': return Currency{"yen", "yen", "sen", "sen"};
    default: return std::nullopt;
  }
}

}  // namespace tutti
