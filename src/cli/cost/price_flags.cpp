#include "cli/cost/price_flags.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "settings/values.h"

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
  TRY(expect_files(*list, flags.purchase));
  TRY(expect_purchase(*list, flags.purchase));
  return list;
}

Result<HourlyPrices> hourly_prices(const PriceFlags& flags, std::span<const PricedDevice> devices) {
  const auto list = TRY(price_list(flags));
  if (list.is_empty()) return HourlyPrices{};
  auto prices = prices_of(list, purchase_of(flags), devices);
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

}  // namespace tutti
