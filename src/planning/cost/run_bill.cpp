#include "planning/cost/run_bill.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "planning/cost/shown_amounts.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Seconds idle_of(const BilledDevice& device) {
  Seconds sum{};
  for (const auto& [reason, time] : device.idle) sum += time;
  return sum;
}

/// Work that is recorded of a device is measured window by window, and may exceed the time that it was busy by what
/// clocks round.
Seconds other_work(const BilledDevice& device) {
  return std::max(Seconds(0), device.busy - device.in_recordings);
}

std::string usd(const std::optional<double>& amount) {
  return amount ? money_text(*amount) : "-";
}

Json parts_json(const BillParts& parts) {
  return {
      {"recordings", parts.recordings}, {"other_work", parts.other}, {"idle", parts.idle}, {"total", parts.total()}};
}

std::optional<double> audio_hour(const RunBill& bill) {
  const auto parts = bill.parts();
  if (!parts || bill.audio <= Seconds(0)) return {};
  return parts->total() / (bill.audio / std::chrono::hours(1));
}

/// The joules of all devices; none where one does not report them.
std::optional<double> joules_of(const RunBill& bill) {
  double sum = 0;
  for (const auto& device : bill.devices) {
    if (!device.energy_joules) return {};
    sum += *device.energy_joules;
  }
  return bill.devices.empty() ? std::nullopt : std::optional(sum);
}

/// The parts of all devices, one device's after the other's, so that lines and columns add up as they are shown.
constexpr std::size_t kParts = 3;

ShownAmounts shown_amounts(const RunBill& bill) {
  std::vector<double> amounts;
  for (const auto& device : bill.devices) {
    const auto parts = parts_of(device, bill.elapsed);
    amounts.insert(amounts.end(), {parts.recordings, parts.other, parts.idle});
  }
  return ShownAmounts(amounts);
}

std::vector<std::string> table_of(const RunBill& bill) {
  const ShownAmounts amounts = shown_amounts(bill);
  TextTable table{.columns = {{"device", false},
                              {"USD/h", true},
                              {"recordings", true},
                              {"other work", true},
                              {"idle", true},
                              {"USD", true},
                              {"mostly idle for", false}}};
  for (std::size_t i = 0; i < bill.devices.size(); ++i) {
    const BilledDevice& device = bill.devices[i];
    const std::size_t first = kParts * i;
    const auto shown = [&](const std::vector<std::size_t>& parts) {
      return device.usd_hour ? amounts.text(parts) : std::string("-");
    };
    const auto most = std::ranges::max_element(device.idle, {}, [](const auto& each) { return each.second; });
    std::string reason = most == device.idle.end() || most->second <= Seconds(0) ? "" : most->first;
    std::ranges::replace(reason, '_', ' ');
    table.rows.push_back({device.id, usd(device.usd_hour), shown({first}), shown({first + 1}), shown({first + 2}),
                          shown({first, first + 1, first + 2}), reason});
  }
  std::vector<std::vector<std::size_t>> columns(kParts);
  for (std::size_t i = 0; i < kParts * bill.devices.size(); ++i) columns[i % kParts].push_back(i);
  if (bill.parts() && bill.devices.size() > 1)
    table.rows.push_back(
        {"all", "", amounts.text(columns[0]), amounts.text(columns[1]), amounts.text(columns[2]), amounts.sum(), ""});
  return lay_out(table, 200);
}

constexpr const char* kExpectedReport = "Expected a report that 'tutti batch --report' has written";

/// A number of a report, none of which is below 0.
Result<double> amount_of(const Json& json, const char* name, const std::string& where) {
  if (!json.is_object() || !json.contains(name) || !json[name].is_number())
    return fail(Fault::corrupt, where + ": expected a number \"" + name + "\", found none", kExpectedReport);
  const auto number = json[name].get<double>();
  if (number >= 0) return number;
  return fail(Fault::corrupt, where + ": \"" + name + "\": expected 0 or more, found " + number_text(number),
              kExpectedReport);
}

/// The same, where it may be absent.
Result<std::optional<double>> optional_amount_of(const Json& json, const char* name, const std::string& where) {
  if (!json.is_object() || !json.contains(name) || json[name].is_null()) return std::nullopt;
  return amount_of(json, name, where).map([](double number) { return std::optional(number); });
}

Result<std::string> text_in(const Json& json, const char* name, const std::string& where) {
  if (!json.contains(name)) return std::string();
  if (json[name].is_string()) return json[name].get<std::string>();
  return fail(Fault::corrupt, where + ": \"" + name + "\": expected a text", kExpectedReport);
}

Result<BilledDevice> device_in(const Json& json, Seconds elapsed, const std::string& where) {
  const auto share = TRY(amount_of(json, "busy_share", where));
  const auto id = text_in(json, "id", where), name = text_in(json, "name", where);
  if (!id || !name) return tl::unexpected(id ? name.error() : id.error());
  BilledDevice device{.id = *id, .name = *name, .busy = share * elapsed};
  const auto recorded = TRY(amount_of(json, "recordings_seconds", where));
  device.in_recordings = Seconds(recorded);
  device.usd_hour = TRY(optional_amount_of(json, "price_per_hour", where));
  device.energy_joules = TRY(optional_amount_of(json, "energy_joules", where));
  if (!json.contains("idle") || !json["idle"].is_object()) return device;
  for (const auto& [reason, time] : json["idle"].items()) {
    const auto seconds = TRY(amount_of(json["idle"], reason.c_str(), where + ": idle"));
    device.idle[reason] = Seconds(seconds);
  }
  return device;
}

}  // namespace

BillParts parts_of(const BilledDevice& device, Seconds elapsed) {
  const double usd_hour = device.usd_hour.value_or(0);
  const Seconds busy = std::min(device.busy, elapsed);
  const Seconds other = std::min(other_work(device), busy);
  return {.recordings = usd_of(usd_hour, busy - other),
          .other = usd_of(usd_hour, other),
          .idle = usd_of(usd_hour, elapsed - busy)};
}

std::optional<BillParts> RunBill::parts() const {
  BillParts sum;
  for (const auto& device : devices) {
    if (!device.usd_hour) return {};
    const auto parts = parts_of(device, elapsed);
    sum.recordings += parts.recordings;
    sum.other += parts.other;
    sum.idle += parts.idle;
  }
  return devices.empty() ? std::nullopt : std::optional(sum);
}

std::vector<PricedDevice> RunBill::priced_devices() const {
  std::vector<PricedDevice> all;
  for (const auto& device : devices)
    all.push_back({.id = device.id, .label = device.id, .name = device.name, .on_cpu = device.id.starts_with("cpu")});
  return all;
}

std::string RunBill::text() const {
  std::string text = std::to_string(recordings) + (recordings == 1 ? " recording, " : " recordings, ") +
                     length_text(audio) + " of audio in " + length_text(elapsed) + "\n\n";
  for (const auto& line : table_of(*this)) text += "  " + line + "\n";
  const auto sum = parts();
  if (!sum) return text + "\nNot every device has a price: give " + field("price") + ".\n";
  text += "\n" + money_text(sum->total()) + " USD";
  if (const auto hour = audio_hour(*this)) text += ", " + money_text(*hour) + " per hour of audio";
  if (recordings > 0) text += ", " + money_text(sum->total() / static_cast<double>(recordings)) + " per recording";
  if (sum->total() > 0)
    text += "; " + std::to_string(std::lround(100 * sum->idle / sum->total())) + " % of it for idle devices";
  if (const auto joules = joules_of(*this)) text += "; " + energy_text(*joules);
  return text + ".\n";
}

std::string RunBill::json() const {
  Json out{{"recordings", recordings}, {"audio_seconds", audio.count()}, {"duration_seconds", elapsed.count()}};
  if (const auto sum = parts()) out["bill"] = parts_json(*sum);
  if (const auto hour = audio_hour(*this)) out["cost_per_audio_hour"] = *hour;
  if (const auto joules = joules_of(*this)) out["energy_joules"] = *joules;
  out["devices"] = Json::array();
  for (const auto& device : devices) {
    Json& entry = out["devices"].emplace_back(Json{{"id", device.id}, {"name", device.name}});
    if (!device.usd_hour) continue;
    entry["price_per_hour"] = *device.usd_hour;
    entry["bill"] = parts_json(parts_of(device, elapsed));
    const Seconds idle = idle_of(device);
    for (const auto& [reason, time] : device.idle)
      if (idle > Seconds(0)) entry["idle_cost"][reason] = usd_of(*device.usd_hour, time);
  }
  return json_line(out);
}

RunBill bill_of(const BatchReport& report, const HourlyPrices& prices) {
  RunBill bill{.elapsed = report.elapsed, .audio = report.audio, .recordings = report.done_now};
  std::map<std::string, Seconds> recorded;
  for (const BatchAsset& asset : report.assets)
    for (const auto& [device, busy] : asset.busy_on) recorded[device] += busy;
  for (const auto& device : report.pool.devices) {
    BilledDevice billed{
        .id = device.id, .name = device.name, .busy = device.busy, .in_recordings = recorded[device.id]};
    for (const auto& [reason, time] : device.idle.by_name()) billed.idle[reason] = time;
    if (const auto price = prices.find(device.id); price != prices.end()) billed.usd_hour = price->second;
    if (const auto drawn = report.device_joules.find(device.id); drawn != report.device_joules.end())
      billed.energy_joules = drawn->second;
    bill.devices.push_back(std::move(billed));
  }
  return bill;
}

Result<RunBill> read_bill(std::string_view report, const std::string& name) {
  const Json json = Json::parse(report, nullptr, false);
  const auto elapsed = TRY(amount_of(json, "duration_seconds", name));
  const auto audio = TRY(amount_of(json, "audio_seconds", name));
  const auto done = TRY(amount_of(json, "done_in_this_run", name));
  RunBill bill{.elapsed = Seconds(elapsed), .audio = Seconds(audio), .recordings = static_cast<std::size_t>(done)};
  if (json.contains("devices") && !json["devices"].is_array())
    return fail(Fault::corrupt, name + ": \"devices\": expected a list", kExpectedReport);
  for (const Json& each : json.value("devices", Json::array())) {
    auto device = TRY(device_in(each, bill.elapsed, name + ": device " + std::to_string(bill.devices.size() + 1)));
    bill.devices.push_back(std::move(device));
  }
  if (bill.devices.empty())
    return fail(Fault::usage, name + ": no device has worked in it, so that there is nothing to pay");
  return bill;
}

}  // namespace tutti
