#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/list/device_list.h"
#include "device/prices/price_list.h"
#include "settings/option_table.h"

namespace tutti {

/// --price and --purchase, the same for every command that knows costs.
struct PriceFlags {
  std::string list{};
  std::string purchase{};  ///< empty: not given
};

/// Binds both. For the help `what`: what the prices are for there, and `usual`: what counts without --purchase.
void add_prices(OptionTable& table, PriceFlags& flags, const std::string& what,
                const std::string& usual = kUsualPurchase);

/// The list that --price names; an empty one for None. Errors as parse_prices, and of a purchase that no price file of
/// the list has.
Result<PriceList> price_list(const PriceFlags& flags);

/// What these devices cost, on demand where no purchase is given. Warns of those without a price where there are
/// prices. Errors as prices_of.
Result<HourlyPrices> hourly_prices(const PriceFlags& flags, std::span<const PricedDevice> devices);

/// As hourly_prices, of the devices of a batch.
Result<HourlyPrices> hourly_prices(const PriceFlags& flags, std::span<const ChosenDevice> devices);

}  // namespace tutti
