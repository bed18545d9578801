#include "device/prices/price_list.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numbers.h"
#include "base/strings.h"

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
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  return fail(Fault::usage,
              std::string(value ? "expected 0 or more" : "expected a price in USD an hour") + ", found " +
                  std::string(text) + (text == part ? "" : " in '" + std::string(part) + "'"),
              "As in 0.5, or T4=0.526,cpu=0.2, or prices.toml");
}

Result<void> take_part(PriceList& list, std::string_view part) {
  if (part.ends_with(".toml")) {
    auto file = read_price_file(std::string(part));
    if (!file) return tl::unexpected(file.error());
    std::ranges::move(file->prices, std::back_inserter(list.prices));
    if (file->services.usd_gb_month) list.services.usd_gb_month = file->services.usd_gb_month;
    if (!file->services.usd_million_requests) return {};
    list.services.usd_million_requests = file->services.usd_million_requests;
    list.services.requests_per_recording = file->services.requests_per_recording;
    return {};
  }
  const auto equals = part.rfind('=');
  const bool named = equals != part.npos;
  const auto amount = amount_in(named ? part.substr(equals + 1) : part, part);
  if (!amount) return tl::unexpected(amount.error());
  if (!named)
    list.others = *amount;
  else if (equals == 0)
    return fail(Fault::usage, "expected a device's name before '" + std::string(part) + "'", "As in T4=0.526");
  else
    list.prices.push_back({.device = std::string(part.substr(0, equals)), .usd_hour = *amount});
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

Result<void> expect_purchase(const PriceList& list, const std::string& purchase) {
  std::set<std::string> there;
  for (const Price& price : list.prices)
    if (!price.is_typed()) there.insert(price.purchase);
  if (there.empty() || there.contains(purchase)) return {};
  return fail(Fault::usage, "--purchase " + purchase + ": the price file has none of this kind",
              "It has " + joined(there, ", "));
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
    return fail(Fault::usage, "--price " + price.device + ": no device here is named so", "There are: " + there);
  }
  return {};
}

}  // namespace

int likeness(std::string_view price, const PricedDevice& device) {
  constexpr int kId = 10'000, kName = 9'000, kWord = 10, kKind = 1;
  for (const std::string* id : {&device.id, &device.label})
    if (price == *id || (!id->empty() && price == without_number(*id))) return kId;
  const std::string wanted = words_of(price), there = words_of(device.name);
  if (wanted != " " && wanted == there) return kName;
  if (wanted != " " && there.find(wanted) != there.npos) return kWord + static_cast<int>(wanted.size());
  return ascii_lower(price) == (device.on_cpu ? "cpu" : "gpu") ? kKind : 0;
}

Result<PriceList> parse_prices(std::string_view text) {
  PriceList list;
  for (const std::string_view part : split(text, ','))
    if (auto taken = take_part(list, trimmed(part)); !taken) return fail_in("--price", taken.error());
  return list;
}

Result<HourlyPrices> prices_of(const PriceList& list, const std::string& purchase,
                               std::span<const PricedDevice> devices) {
  if (auto checked = expect_purchase(list, purchase); !checked) return tl::unexpected(checked.error());
  if (auto checked = expect_devices(list, devices); !checked) return tl::unexpected(checked.error());
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
                    "--price: " + device.label + " may be of " + other->name() + " or of " + price.name() +
                        ", which the price file both has",
                    "Type its price: --price " + price.device + "=" + number_text(price.usd_hour / price.devices));
    prices[device.id] = price.usd_hour / price.devices;
  }
  return prices;
}

}  // namespace tutti
