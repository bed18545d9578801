#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "base/strings.h"
#include "text/speech/amounts.h"
#include "text/speech/number_words.h"
#include "text/speech/signs.h"
#include "text/utf8.h"

namespace tutti {
namespace {

struct Unit {
  std::string_view written;
  std::string_view one;
  std::string_view many;
  std::string_view prefixes{};  ///< of kPrefixes, by their first characters; empty: none
  bool in_any_case = true;      ///< "KM" and "khz"
};

/// 'u' is micro, which is written out.
struct Prefix {
  char key;
  std::string_view written;
  std::string_view name;
};
constexpr auto kPrefixes = std::to_array<Prefix>({
    {'k', "k", "kilo"},
    {'K', "K", "kilo"},
    {'c', "c", "centi"},
    {'m', "m", "milli"},
    {'u', "micro", "micro"},
    {'n', "n", "nano"},
    {'p', "p", "pico"},
    {'d', "d", "deci"},
    {'h', "h", "hecto"},
    {'M', "M", "mega"},
    {'G', "G", "giga"},
    {'T', "T", "tera"},
    {'P', "P", "peta"},
});

constexpr auto kUnits = std::to_array<Unit>({
    {"Nm", "newton meter", "newton meters", "", false},
    {"kpa", "kilopascal", "kilopascals"},
    {"m", "meter", "meters", "kcmund"},
    {"g", "gram", "grams", "kmun"},
    {"l", "liter", "liters", "mcduh"},
    {"s", "second", "seconds", "munp", false},
    {"A", "ampere", "amperes", "mukn", false},
    {"V", "volt", "volts", "mkMu"},
    {"W", "watt", "watts", "kmMGTu"},
    {"Hz", "hertz", "hertz", "kMGTm"},
    {"Pa", "pascal", "pascals", "khMG", false},
    {"J", "joule", "joules", "kMGm", false},
    {"N", "newton", "newtons", "kMm", false},
    {"F", "farad", "farads", "unpm", false},
    {"H", "henry", "henries", "mu", false},
    {"K", "kelvin", "kelvin", "m", false},
    {"T", "tesla", "tesla", "mu", false},
    {"ohm", "ohm", "ohms", "kMmG", false},
    {"mol", "mole", "moles", "mun"},
    {"eV", "electronvolt", "electronvolts", "kMGT", false},
    {"B", "byte", "bytes", "kKMGTP"},
    {"iB", "byte", "bytes", "kKMGT", false},
    {"bit", "bit", "bits", "kMG"},
    {"b", "bit", "bits", "MG", false},
    {"bp", "basis point", "basis points", "", false},
    {"bps", "basis point", "basis points", "", false},
    {"bps", "bit per second", "bits per second", "kMG"},
    {"Wh", "watt hour", "watt hours", "kMGm"},
    {"Ah", "ampere hour", "ampere hours", "m", false},
    {"cal", "calorie", "calories", "k"},
    {"bar", "bar", "bar", "m"},
    {"t", "ton", "tons", "", false},
    {"Mt", "megaton", "megatons", "", false},
    {"Gt", "gigaton", "gigatons", "", false},
    {"bbl", "barrel", "barrels"},
    {"dB", "decibel", "decibels"},
    {"dBA", "decibel", "decibels"},
    {"dBm", "d b m", "d b m", "", false},
    {"dBi", "d b i", "d b i", "", false},
    {"Sv", "sievert", "sieverts", "mu", false},
    {"Bq", "becquerel", "becquerels", "kM", false},
    {"lm", "lumen", "lumens"},
    {"lx", "lux", "lux"},
    {"ha", "hectare", "hectares"},
    {"kr", "krone", "kroner", "", false},
    {"ly", "light year", "light years", "", false},
    {"lb", "pound", "pounds"},
    {"lbs", "pound", "pounds"},
    {"oz", "ounce", "ounces"},
    {"ft", "foot", "feet"},
    {"in", "inch", "inches"},
    {"yd", "yard", "yards"},
    {"yds", "yard", "yards"},
    {"mi", "mile", "miles"},
    {"nmi", "nautical mile", "nautical miles"},
    {"mph", "mile per hour", "miles per hour"},
    {"kph", "kilometer per hour", "kilometers per hour"},
    {"kms", "kilometer", "kilometers"},
    {"kmh", "kilometer per hour", "kilometers per hour"},
    {"gal", "gallon", "gallons"},
    {"psi", "pound per square inch", "pounds per square inch"},
    {"mmhg", "millimeter of mercury", "millimeters of mercury"},
    {"min", "minute", "minutes"},
    {"mins", "minute", "minutes"},
    {"sec", "second", "seconds"},
    {"secs", "second", "seconds"},
    {"h", "hour", "hours"},
    {"hr", "hour", "hours"},
    {"hrs", "hour", "hours"},
    {"yr", "year", "years"},
    {"yrs", "year", "years"},
    {"\u00B0", "degree", "degrees"},
    {"\u00B0c", "degree celsius", "degrees celsius"},
    {"\u00B0f", "degree fahrenheit", "degrees fahrenheit"},
    {"rpm", "revolution per minute", "revolutions per minute"},
    {"bpm", "beat per minute", "beats per minute"},
    {"fps", "frame per second", "frames per second"},
    {"dpi", "dot per inch", "dots per inch"},
    {"ppi", "pixel per inch", "pixels per inch"},
    {"ppm", "part per million", "parts per million"},
    {"px", "pixel", "pixels"},
    {"hp", "horsepower", "horsepower"},
    {"qt", "quart", "quarts"},
    {"qts", "quart", "quarts"},
    {"pt", "pint", "pints", "", false},
    {"tbsp", "tablespoon", "tablespoons"},
    {"tsp", "teaspoon", "teaspoons"},
    {"mcg", "microgram", "micrograms"},
    {"ppb", "part per billion", "parts per billion"},
    {"kn", "knot", "knots", "", false},
    {"kt", "knot", "knots", "", false},
    {"kts", "knot", "knots"},
    {"MP", "megapixel", "megapixels", "", false},
    {"pts", "point", "points", "", false},
    {"mpg", "mile per gallon", "miles per gallon"},
    {"sqft", "square foot", "square feet"},
    {"sq.ft", "square foot", "square feet"},
    {"sq.m", "square meter", "square meters"},
    {"sq.km", "square kilometer", "square kilometers"},
    {"sq.mi", "square mile", "square miles"},
    {"lb-ft", "pound foot", "pound feet"},
    {"lb.-ft", "pound foot", "pound feet"},
    {"lb.ft", "pound foot", "pound feet"},
    {"ft-lb", "foot pound", "foot pounds"},
    {"ft-lbs", "foot pound", "foot pounds"},
    {"ft.-lb", "foot pound", "foot pounds"},
    {"pct", "percent", "percent"},
    {"atm", "atmosphere", "atmospheres"},
    {"mo", "month", "months", "", false},
    {"mos", "month", "months", "", false},
    {"wk", "week", "weeks"},
    {"wks", "week", "weeks"},
});

/// A unit without a power, singular and plural.
struct UnitNames {
  std::string one{};
  std::string many{};
  bool is_length = false;  ///< its square is "square ..."
};

UnitNames names_of(const Unit& unit, std::string_view prefix) {
  constexpr std::array<std::string_view, 6> kLengths{"m", "in", "ft", "yd", "mi", "yds"};
  return {std::string(prefix) + std::string(unit.one), std::string(prefix) + std::string(unit.many),
          std::ranges::find(kLengths, unit.written) != kLengths.end()};
}

/// `matches`: whether a prefix and a unit, as they are written, are the text.
template <class Matches>
std::optional<UnitNames> find_unit(const Matches& matches) {
  for (const Unit& unit : kUnits) {
    if (matches(unit, "", unit.written)) return names_of(unit, "");
    for (const Prefix& prefix : kPrefixes)
      if (unit.prefixes.find(prefix.key) != std::string_view::npos && matches(unit, prefix.written, unit.written))
        return names_of(unit, prefix.name);
  }
  return std::nullopt;
}

std::optional<UnitNames> find_unit(std::string_view written) {
  // A "G" alone is no gram, "M" no meter: capitals tell units of one character apart, all but the liter's.
  if (written == "L") written = "l";
  const auto is_exact = [&](const Unit&, std::string_view prefix, std::string_view name) {
    return written.size() == prefix.size() + name.size() && written.starts_with(prefix) && written.ends_with(name);
  };
  if (auto found = find_unit(is_exact)) return found;
  if (written.size() < 2) return std::nullopt;
  const auto capitals = written.substr(0, written.size() - 1);
  if (written.size() > 2 && written.ends_with('s') && ascii_upper(capitals) == capitals) return std::nullopt;  // "HRs"
  const std::string small = ascii_lower(written);
  return find_unit([&](const Unit& unit, std::string_view prefix, std::string_view name) {
    return unit.in_any_case && ascii_lower(std::string(prefix) + std::string(name)) == small;
  });
}

/// A unit and its power: "m2".
struct Factor {
  UnitNames unit{};
  int power = 1;
};

std::optional<Factor> factor_of(std::string_view text) {
  std::string raised;
  append_utf8(raised, kRaised);
  auto name = text.substr(0, std::min({text.find(raised), text.find('^'), text.find_first_of("23")}));
  auto power = text.substr(name.size());
  if (power.starts_with(raised)) power.remove_prefix(raised.size());
  if (power.starts_with('^')) power.remove_prefix(1);
  const bool is_negative = power.starts_with('-');
  if (is_negative) power.remove_prefix(1);
  auto unit = find_unit(name);
  if (!unit || power.size() > 1 || (name.size() < text.size() && !is_all_digits(power))) return std::nullopt;
  const int value = power.empty() ? 1 : power.front() - '0';
  return Factor{std::move(*unit), is_negative ? -value : value};
}

std::string name_of(const Factor& factor, bool is_one) {
  const std::string name = is_one ? factor.unit.one : factor.unit.many;
  const int power = std::abs(factor.power);
  if (power == 1) return name;
  constexpr int kSquare = 2, kCube = 3;
  if (power == kSquare) return factor.unit.is_length ? "square " + name : name + " squared";
  if (power == kCube) return factor.unit.is_length ? "cubic " + name : name + " cubed";
  return name + " to the " + cardinal_words(std::to_string(power));
}

}  // namespace

std::optional<std::string> unit_name(std::string_view unit, bool is_one) {
  std::vector<Factor> above, below;
  const auto slash = unit.find('/');
  if (slash != unit.npos && slash + 1 == unit.size()) return std::nullopt;
  std::string factors(unit);
  for (const std::string_view dot : {"\u00B7", "\u22C5"})
    for (std::size_t at; (at = factors.find(dot)) != std::string::npos;) factors.replace(at, dot.size(), " ");
  constexpr auto kPeriods = std::to_array<std::string_view>({"day", "night", "week", "month", "year"});  // "hrs/day"
  bool is_below = false;
  for (const auto part : split(factors, '/')) {
    for (const auto written : split(part, ' ')) {
      const bool is_period = is_below && std::ranges::find(kPeriods, written) != kPeriods.end();
      auto factor = is_period ? std::optional(Factor{.unit = {.one = std::string(written)}}) : factor_of(written);
      if (!factor) return std::nullopt;
      (is_below || factor->power < 0 ? below : above).push_back(std::move(*factor));
    }
    is_below = true;
  }
  std::string name;
  for (std::size_t i = 0; i < above.size(); ++i)
    name += (name.empty() ? "" : " ") + name_of(above[i], is_one || i + 1 < above.size());
  for (const auto& factor : below) name += (name.empty() ? "per " : " per ") + name_of(factor, true);
  return name.empty() ? std::nullopt : std::optional(name);
}

bool is_of_substance(std::string_view unit) {
  constexpr auto kSubstance = std::to_array<std::string_view>(
      {"gram", "liter", "pound", "pounds", "ounce", "gallon", "mole", "ton", "calorie", "spoon"});
  const auto found = find_unit(unit);
  return found && std::ranges::any_of(kSubstance, [&](std::string_view name) { return found->one.ends_with(name); });
}

std::string unit_of_rate(std::string_view unit) {
  return unit_name(unit, true).value_or(ascii_lower(unit));
}

bool may_be_unit(char unit, bool is_tight) {
  return std::string_view(is_tight ? "msghlLVWt" : "msghlLVWJNKt").find(unit) != std::string_view::npos;
}

}  // namespace tutti
