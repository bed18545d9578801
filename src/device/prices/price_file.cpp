#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/toml.h"
#include "base/try.h"
#include "device/prices/price_list.h"
#include "device/toml_keys.h"

namespace tutti {
namespace {

constexpr const char* kDescribed = "docs/cost.md describes price files";

TakeToml amount_into(double& field) {
  return within(0, kMostUsd, [&field](double value) { field = value; });
}

TakeToml amount_into(std::optional<double>& field) {
  return within(0, kMostUsd, [&field](double value) { field = value; });
}

/// A whole number, written as one.
TakeToml count_into(int& field) {
  constexpr int kMostDevices = 1024;
  return [&field](const toml::node& node) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > kMostDevices) return false;
    field = static_cast<int>(*value);
    return true;
  };
}

/// A word that is not empty: it is compared, and shown in tables.
TakeToml word_into(std::string& field) {
  return [&field](const toml::node& node) {
    const auto value = node.value_exact<std::string>();
    const auto is_odd = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (!value || value->empty() || std::ranges::any_of(*value, is_odd)) return false;
    field = *value;
    return true;
  };
}

/// A date of TOML, which is not in quotes. The reader has checked that there is such a day.
TakeToml date_into(std::string& field) {
  return [&field](const toml::node& node) {
    const auto value = node.value_exact<toml::date>();
    if (!value) return false;
    std::ostringstream text;
    text << *value;
    field = text.str();
    return true;
  };
}

Result<Price> price_in(const toml::table& table, const std::string& where) {
  Price price{.usd_hour = -1};
  const TomlKeys keys{{"device", word_into(price.device)},       {"purchase", word_into(price.purchase)},
                      {"usd_hour", amount_into(price.usd_hour)}, {"date", date_into(price.date)},
                      {"instance", word_into(price.instance)},   {"devices", count_into(price.devices)}};
  TRY(take_table(table, keys, where, kDescribed));
  const std::pair<const char*, bool> needed[] = {{"device = \"NAME\"", !price.device.empty()},
                                                 {"purchase = \"on-demand\"", !price.purchase.empty()},
                                                 {"usd_hour = AMOUNT", price.usd_hour >= 0},
                                                 {"date = YYYY-MM-DD", !price.date.empty()}};
  for (const auto& [key, there] : needed)
    if (!there) return fail(Fault::usage, where + ": expected " + key + ", found none", kDescribed);
  return price;
}

Result<void> take_prices(const toml::array& entries, PriceList& list, const std::string& path) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string where = path + ": price " + std::to_string(i + 1);
    const auto* table = entries[i].as_table();
    if (!table) return fail(Fault::usage, where + ": expected [[price]]", kDescribed);
    auto price = TRY(price_in(*table, where));
    if (auto added = add_price(list.prices, std::move(price), where); !added) return added;
  }
  return {};
}

Result<void> take_services(const toml::table* storage, const toml::table* requests, ServicePrices& services,
                           const std::string& path) {
  const TomlKeys of_storage{{"usd_gb_month", amount_into(services.usd_gb_month)}};
  const TomlKeys of_requests{{"usd_million", amount_into(services.usd_million_requests)},
                             {"per_recording", amount_into(services.requests_per_recording)}};
  if (storage)
    if (auto taken = take_table(*storage, of_storage, path + ": storage", kDescribed); !taken) return taken;
  if (requests)
    if (auto taken = take_table(*requests, of_requests, path + ": requests", kDescribed); !taken) return taken;
  if (requests && requests->contains("per_recording") && !services.usd_million_requests)
    return fail(Fault::usage, path + ": requests: expected usd_million = AMOUNT with per_recording, found none",
                kDescribed);
  return {};
}

}  // namespace

Result<PriceList> read_price_file(const std::string& path) {
  const auto content = TRY(read_file(path));
  auto parsed = TRY(parse_toml(content, path, Fault::usage));
  const toml::array* entries = nullptr;
  const toml::table *storage = nullptr, *requests = nullptr;
  const auto table_into = [](const toml::table*& into) {
    return [&into](const toml::node& node) { return (into = node.as_table()) != nullptr; };
  };
  const TomlKeys top{{"price", [&](const toml::node& node) { return (entries = node.as_array()) != nullptr; }},
                     {"storage", table_into(storage)},
                     {"requests", table_into(requests)}};
  TRY(take_table(parsed, top, path, kDescribed));
  PriceList list;
  if (entries) TRY(take_prices(*entries, list, path));
  TRY(take_services(storage, requests, list.services, path));
  if (list.prices.empty())
    return fail(Fault::usage, path + ": expected at least one [[price]], found none", kDescribed);
  return list;
}

}  // namespace tutti
