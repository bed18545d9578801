#include "device/prices/price_list.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/field_names.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

/// "Tesla T4" and "tesla-t4" are the words tesla and t4, each between spaces.
std::string words_of(std::string_view text) {
  std::string words = " ";
  for (const char c : ascii_lower(text)) {
    const bool part = is_ascii_alphabetic(c) || is_ascii_digit(static_cast<unsigned char>(c));
    if (part)
      words += c;
    else if (words.back() != ' ')
      words += ' ';
  }
  return words.back() == ' ' ? words : words + " ";
}

/// "left" of "left#2": devices that are alike.
std::string_view without_number(std::string_view id) {
  return id.substr(0, id.rfind('#'));
}

Result<double> amount_in(std::string_view text, std::string_view part) {
  const auto value = number_in<double>(text);
  if (value && *value >= 0 && *value <= kMostUsd) return *value;
  const bool is_high = value && *value > kMostUsd && std::isfinite(*value);
  return fail(Fault::usage,
              (is_high ? "expected at most " + fixed_text(kMostUsd, 0)
                       : std::string(value ? "expected 0 or more" : "expected a price in USD an hour")) +
                  ", found " + (text.empty() ? "nothing" : std::string(text)) +
                  (text == part ? "" : " in '" + std::string(part) + "'"),
              "As in 0.5, or T4=0.526,cpu=0.2, or prices.toml");
}

Result<void> take_file(PriceList& list, const std::string& path) {
  auto file = TRY(read_price_file(path));
  for (Price& price : file.prices)
    if (auto added = add_price(list.prices, std::move(price), path); !added) return added;
  if (file.services.usd_gb_month) list.services.usd_gb_month = file.services.usd_gb_month;
  if (!file.services.usd_million_requests) return {};
  list.services.usd_million_requests = file.services.usd_million_requests;
  list.services.requests_per_recording = file.services.requests_per_recording;
  return {};
}

tl::unexpected<Error> given_twice(std::string_view what, double first, double second) {
  return fail(Fault::usage,
              std::string(what) + " has two prices: " + number_text(first) + " and " + number_text(second),
              "Leave one out");
}

Result<void> take_named(PriceList& list, std::string_view name, double usd_hour) {
  const auto alike = std::ranges::find_if(list.prices, [&](const Price& other) {
    return other.is_typed() && ascii_lower(other.device) == ascii_lower(name);
  });
  if (alike != list.prices.end()) return given_twice(name, alike->usd_hour, usd_hour);
  list.prices.push_back({.device = std::string(name), .usd_hour = usd_hour});
  return {};
}

Result<void> take_part(PriceList& list, std::string_view part) {
  if (part.ends_with(".toml")) return take_file(list, std::string(part));
  const auto equals = part.rfind('=');
  const bool named = equals != part.npos;
  const auto amount = TRY(amount_in(named ? part.substr(equals + 1) : part, part));
  if (equals == 0)
    return fail(Fault::usage, "expected a device's name before '" + std::string(part) + "'", "As in T4=0.526");
  if (named) return take_named(list, trimmed(part.substr(0, equals)), amount);
  if (list.others) return given_twice("every device", *list.others, amount);
  list.others = amount;
  return {};
}

/// Of what a price has to fit, the closest; several where instances differ.
struct Closest {
  int likeness = 0;
  std::vector<const Price*> prices{};
};

Closest closest_of(const PriceList& list, const std::string& purchase, const PricedDevice& device) {
  Closest best;
  for (const bool typed : {true, false}) {
    for (const Price& price : list.prices) {
      if (price.is_typed() != typed || (!typed && price.purchase != purchase)) continue;
      const int fits = likeness(price.device, device);
      if (fits == 0 || fits < best.likeness) continue;
      if (fits > best.likeness) best = {.likeness = fits};
      best.prices.push_back(&price);
    }
    if (!best.prices.empty()) break;
  }
  return best;
}

/// A name that was typed and fits nothing is a slip; a file may have prices of what is elsewhere.
Result<void> expect_devices(const PriceList& list, std::span<const PricedDevice> devices) {
  for (const Price& price : list.prices) {
    const auto fits = [&](const PricedDevice& device) { return likeness(price.device, device) > 0; };
    if (!price.is_typed() || std::ranges::any_of(devices, fits)) continue;
    const auto there = joined(devices, ", ", [](const PricedDevice& device) {
      return device.name.empty() || device.name == device.label ? device.label
                                                                : device.label + " (" + device.name + ")";
    });
    return fail(Fault::usage, field("price") + " " + price.device + ": no device here is named so",
                "There are: " + there);
  }
  return {};
}

}  // namespace

double usd_of(double usd_hour, Seconds time) {
  return usd_hour * (time / std::chrono::hours(1));
}

Result<void> add_price(std::vector<Price>& prices, Price price, const std::string& where) {
  const auto alike = std::ranges::find_if(prices, [&](const Price& other) {
    return !other.is_typed() && other.device == price.device && other.instance == price.instance &&
           other.purchase == price.purchase;
  });
  if (alike == prices.end()) {
    prices.push_back(std::move(price));
  } else if (alike->date < price.date) {
    *alike = std::move(price);
  } else if (alike->date == price.date && (alike->usd_hour != price.usd_hour || alike->devices != price.devices)) {
    return fail(Fault::usage,
                where + ": " + price.name() + " has another price of " + price.purchase + " of " + price.date,
                "Leave one out, or give each its date");
  }
  return {};
}

int likeness(std::string_view price, const PricedDevice& device) {
  constexpr int kId = 10'000, kName = 9'000, kWord = 10, kKind = 1;
  for (const std::string* id : {&device.id, &device.label})
    if (price == *id || (!id->empty() && price == without_number(*id))) return kId;
  const std::string wanted = words_of(price), there = words_of(device.name);
  if (wanted != " " && wanted == there) return kName;
  if (wanted != " " && there.find(wanted) != there.npos) return kWord + static_cast<int>(wanted.size());
  return ascii_lower(price) == (device.on_cpu ? "cpu" : "gpu") ? kKind : 0;
}

Result<void> expect_purchase(const PriceList& list, const std::string& purchase) {
  std::set<std::string> there;
  for (const Price& price : list.prices)
    if (!price.is_typed()) there.insert(price.purchase);
  if (there.empty() || there.contains(purchase)) return {};
  return fail(Fault::usage, field("purchase") + " " + purchase + ": the price file has none of this kind",
              "It has " + joined(there, ", "));
}

Result<PriceList> parse_prices(std::string_view text) {
  PriceList list;
  for (const std::string_view part : split(text, ','))
    if (auto taken = take_part(list, trimmed(part)); !taken) return fail_in(field("price"), taken.error());
  return list;
}

Result<HourlyPrices> prices_of(const PriceList& list, const std::string& purchase,
                               std::span<const PricedDevice> devices) {
  TRY(expect_purchase(list, purchase));
  TRY(expect_devices(list, devices));
  HourlyPrices prices;
  for (const PricedDevice& device : devices) {
    const Closest closest = closest_of(list, purchase, device);
    if (closest.prices.empty()) {
      if (list.others) prices[device.id] = *list.others;
      continue;
    }
    const Price& price = *closest.prices.back();
    for (const Price* other : closest.prices)
      if (!price.is_typed() && other->instance != price.instance)
        return fail(Fault::usage,
                    field("price") + ": " + device.label + " may be of " + other->name() + " or of " + price.name() +
                        ", which the price file both has",
                    "Type its price: " + field("price") + " " + price.device + "=" +
                        number_text(price.usd_hour / price.devices));
    prices[device.id] = price.usd_hour / price.devices;
  }
  return prices;
}

}  // namespace tutti
