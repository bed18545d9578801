#include "cli/cost/price_flags.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "cli/settings/values.h"

namespace tutti {

namespace {

const std::string& purchase_of(const PriceFlags& flags) {
  static const std::string usual = kUsualPurchase;
  return flags.purchase.empty() ? usual : flags.purchase;
}

/// A purchase chooses among the prices of files, so there have to be some.
Result<void> expect_files(const PriceList& list, const std::string& purchase) {
  if (std::ranges::any_of(list.prices, [](const Price& price) { return !price.is_typed(); })) return {};
  return fail(Fault::usage,
              "--purchase " + purchase + " chooses among the prices of a price file, and --price names none",
              "Name one, as in --price prices.toml, or leave --purchase out");
}

}  // namespace

void add_prices(OptionTable& table, PriceFlags& flags, const std::string& what, const std::string& usual) {
  table.add_list("price", flags.list, "LIST|None",
                 "USD an hour of a device, " + what +
                     ": 0.5 for every device, T4=0.526,cpu=0.2 by name, or FILE.toml of prices (docs/cost.md); "
                     "comma-separated, may be given again");
  table.add("purchase", flags.purchase, "NAME",
            "which of a price file's prices count: on-demand, spot, ...; default: " + usual);
}

Result<PriceList> price_list(const PriceFlags& flags) {
  auto list = is_none(flags.list) ? Result<PriceList>{} : parse_prices(flags.list);
  if (!list || flags.purchase.empty()) return list;
  if (auto checked = expect_files(*list, flags.purchase); !checked) return tl::unexpected(checked.error());
  if (auto checked = expect_purchase(*list, flags.purchase); !checked) return tl::unexpected(checked.error());
  return list;
}

Result<HourlyPrices> hourly_prices(const PriceFlags& flags, std::span<const PricedDevice> devices) {
  const auto list = price_list(flags);
  if (!list) return tl::unexpected(list.error());
  if (list->is_empty()) return HourlyPrices{};
  auto prices = prices_of(*list, purchase_of(flags), devices);
  if (!prices) return prices;
  std::vector<std::string> unpriced;
  for (const PricedDevice& device : devices)
    if (!prices->contains(device.id)) unpriced.push_back(device.label);
  if (!unpriced.empty())
    log(Level::warning, "--price has no " + purchase_of(flags) + " price of " + joined(unpriced, ", ") +
                            ", so that the cost of all is not known; NAME=0 is a price, too");
  return prices;
}

Result<HourlyPrices> hourly_prices(const PriceFlags& flags, std::span<const ChosenDevice> devices) {
  std::vector<PricedDevice> priced;
  for (const ChosenDevice& chosen : devices)
    priced.push_back({.id = chosen.id,
                      .label = chosen.label,
                      .name = chosen.device.name,
                      .on_cpu = chosen.device.kind == ResolvedDevice::Kind::cpu});
  return hourly_prices(flags, priced);
}

std::optional<DeviceCost> cost_of(std::span<const PricedTime> devices) {
  DeviceCost cost;
  for (const PricedTime& device : devices) {
    if (!device.usd_hour) return {};
    cost.total += usd_of(*device.usd_hour, device.time);
    cost.idle += usd_of(*device.usd_hour, std::max(Seconds(0), device.time - device.busy));
  }
  return devices.empty() ? std::nullopt : std::optional(cost);
}

std::optional<double> one_price(std::span<const PricedTime> devices) {
  if (devices.empty()) return {};
  const auto same = [&](const PricedTime& device) { return device.usd_hour == devices.front().usd_hour; };
  return std::ranges::all_of(devices, same) ? devices.front().usd_hour : std::nullopt;
}

}  // namespace tutti
