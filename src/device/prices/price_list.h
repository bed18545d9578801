#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// What one kind of device costs an hour, bought in one way. Amounts are USD.
struct Price {
  std::string device{};    ///< an id, a name, words of a name ("T4"), "cpu" or "gpu"
  std::string instance{};  ///< what is bought, "g4dn.xlarge"; empty: the device itself
  std::string purchase{};  ///< "on-demand", "spot", …; empty: typed on the command line, whatever the purchase
  double usd_hour = 0;     ///< of the whole instance
  int devices = 1;         ///< of this kind in the instance
  std::string date{};      ///< when it was looked up, "2026-06-17"; empty: typed

  bool is_typed() const { return purchase.empty(); }
  /// "g4dn.xlarge", else "T4".
  const std::string& name() const { return instance.empty() ? device : instance; }
};

/// What storage costs, and requests to a queue or a bucket.
struct ServicePrices {
  std::optional<double> usd_gb_month{};          ///< of 10^9 bytes
  std::optional<double> usd_million_requests{};  ///< requests of all kinds
  double requests_per_recording = 3;             ///< one is sent, received and deleted
};

struct PriceList {
  std::vector<Price> prices{};
  std::optional<double> others{};  ///< an hour of every device that none of `prices` names
  ServicePrices services{};

  bool is_empty() const { return prices.empty() && !others; }
};

inline constexpr const char* kUsualPurchase = "on-demand";
inline constexpr double kMostUsd = 1e6;  ///< no price is higher, typed or in a file

/// What that time costs, in USD. Pure.
double usd_of(double usd_hour, Seconds time);

/// Adds a price to those of price files. Of prices alike but for date and amount, the latest counts. Fault::usage:
/// another amount of the same day; `where` names what it is of.
Result<void> add_price(std::vector<Price>& prices, Price price, const std::string& where);

/// A comma-separated list of "0.5" (every device without a price of its own), "T4=0.526" and names of price files
/// (*.toml). Of alike prices of several files, the latest counts; of their other prices, those of the last file. No
/// text is an empty list. Fault::usage names the part that is not valid or given twice; Fault::missing a file.
Result<PriceList> parse_prices(std::string_view text);

/// A price file:
///
///     [[price]]
///     device = "T4"             # as in Price
///     purchase = "on-demand"
///     usd_hour = 0.526          # of the whole instance
///     date = 2026-06-17         # of several prices alike but for this, the latest counts
///     instance = "g4dn.xlarge"  # optional
///     devices = 1               # optional: how many of the device it has
///     [storage]
///     usd_gb_month = 0.023
///     [requests]
///     usd_million = 0.40
///     per_recording = 3         # optional, with usd_million
///
/// Fault::missing or ::usage names file, entry and key.
Result<PriceList> read_price_file(const std::string& path);

/// What an hour of each device costs, by its id, in USD; those without a price are missing.
using HourlyPrices = std::map<std::string, double>;

/// A device that is to be priced.
struct PricedDevice {
  std::string id{};     ///< as a run knows it
  std::string label{};  ///< as it was written, "cuda:0"
  std::string name{};   ///< for people, "Tesla T4"
  bool on_cpu = false;
};

/// How closely the name of a price fits a device, the closest most: its id or label, its name, words of its name (the
/// more the closer), "cpu" or "gpu". 0: not at all.
int likeness(std::string_view price, const PricedDevice& device);

/// Fault::usage: there are prices of files, and none of this purchase.
Result<void> expect_purchase(const PriceList& list, const std::string& purchase);

/// What devices cost in that purchase. A typed price wins over a file's. Fault::usage names a typed price that is of no
/// device, a purchase that the files do not have, and two instances that a device may be of.
Result<HourlyPrices> prices_of(const PriceList& list, const std::string& purchase,
                               std::span<const PricedDevice> devices);

}  // namespace tutti
