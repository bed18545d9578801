#include "planning/cost/offer_speeds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/build_id.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "hub/memory_plan.h"
#include "planning/memory/device_memory.h"

namespace tutti {
namespace {

PricedDevice priced(const PlanTarget& target) {
  return {.id = target.record, .label = target.id, .name = target.name, .on_cpu = target.on_cpu};
}

bool is_of(const std::string& typed, const Price& price) {
  const std::string name = ascii_lower(typed);
  return name == ascii_lower(price.device) || name == ascii_lower(price.instance);
}

/// The device that fits the name of a price best; of equals the last.
const KnownDevice* best_fit(const std::string& price, std::span<const KnownDevice> known) {
  const KnownDevice* best = nullptr;
  int closest = 1;
  for (const KnownDevice& device : known) {
    const int fits = likeness(price, priced(device.target));
    if (fits < closest) continue;
    closest = fits;
    best = &device;
  }
  return best;
}

Offer offer_of(const Price& price, std::span<const KnownDevice> known, const TypedSpeeds& typed) {
  Offer offer{.price = price, .target = {.id = price.device, .on_cpu = ascii_lower(price.device) == "cpu"}};
  for (const auto& [name, speed] : typed)
    if (is_of(name, price)) {
      offer.target.speed = speed;
      offer.speed_from = field("speed");
    }
  if (const auto card = card_of_model(price.device))
    offer.target.memory = Bytes{card->available.value + kDriverMemory.value};
  if (offer.target.speed) return offer;
  if (const KnownDevice* device = best_fit(price.device, known)) {
    offer.target = device->target;
    offer.target.failures.clear();
    offer.speed_from = device->from;
    offer.word_errors = device->word_errors;
  }
  return offer;
}

/// The trial's device with what it did.
KnownDevice known_by(const ScoredTrial& scored) {
  const BenchTrial& trial = scored.trial;
  const std::string& device = trial.setting.device;
  return {.target = {.id = device,
                     .name = trial.device_name,
                     .record = device,
                     .speed = trial.speed(),
                     .warm_up = trial.load,
                     .on_cpu = device.starts_with("cpu")},
          .from = "measured now on " + device + ", " + trial.compute_type,
          .word_errors = scored.word_errors};
}

}  // namespace

Result<TypedSpeeds> parse_speeds(std::string_view text) {
  TypedSpeeds speeds;
  for (const std::string_view part : split(text, ',')) {
    const auto equals = part.rfind('=');
    std::string_view number = equals == part.npos ? "" : part.substr(equals + 1);
    if (number.ends_with('x')) number.remove_suffix(1);
    const auto speed = number_in<double>(number);
    if (equals == 0 || !speed || !std::isfinite(*speed) || *speed <= 0)
      return fail(Fault::usage, field("speed") + " '" + std::string(part) + "': expected NAME=SPEED, times real time",
                  "As in T4=14.3,cpu=1.1");
    speeds.emplace_back(std::string(part.substr(0, equals)), *speed);
  }
  return speeds;
}

std::vector<KnownDevice> devices_of_batches(const DevicePast& past, const SpeedQuestion& question) {
  std::vector<PlanTarget> targets;
  std::set<std::string> seen;
  for (const RunRecord& run : past.runs)  // latest first
    for (const DeviceUse& use : run.end.devices)
      if (seen.insert(use.device).second)
        targets.insert(
            targets.begin(),
            {.id = use.device, .name = use.name, .record = use.device, .on_cpu = use.device.starts_with("cpu")});
  add_past(targets, past, question);
  std::vector<KnownDevice> known;
  for (PlanTarget& target : targets)
    if (target.speed) {
      std::string from = "earlier batches on " + target.id + ", " + target.speed_type;
      known.push_back({.target = std::move(target), .from = std::move(from)});
    }
  return known;
}

Result<std::vector<KnownDevice>> measure_devices(const MeasureRequest& request, StopSignal& stop) {
  TranscribeOptions common = bench_options(kMeasured);
  common.build_id = build_id();
  common.model = request.model;
  std::vector<BenchTrial> trials;
  for (const std::string& device : request.devices) {
    const int size = device.starts_with("cpu") ? kUsualCpuSlots : kUsualGpuSlots;
    auto trial = TRY(run_trial(
        request.files, {.device = device, .compute_type = request.compute_type, .batch_size = size}, common, stop));
    if (trial.error && trial.error->fault == Fault::usage) return tl::unexpected(*trial.error);
    if (trial.error) log(Level::warning, device + " is not measured: " + trial.error->text());
    trials.push_back(std::move(trial));
  }
  const auto scored = score_trials(trials, std::vector<std::optional<DeviceLimits>>(trials.size()));
  std::vector<KnownDevice> known;
  for (const ScoredTrial& each : scored.trials)
    if (!each.trial.error) known.push_back(known_by(each));
  if (known.empty()) return fail(Fault::device, field("measure") + ": no device could run");
  return known;
}

Result<std::vector<Offer>> offers_of(const PriceList& prices, const std::string& purchase,
                                     std::span<const KnownDevice> known, const TypedSpeeds& typed) {
  std::vector<Offer> offers;
  for (const Price& price : prices.prices)
    if (purchase.empty() || price.is_typed() || price.purchase == purchase)
      offers.push_back(offer_of(price, known, typed));
  for (const auto& [name, speed] : typed)
    if (std::ranges::none_of(offers, [&](const Offer& offer) { return is_of(name, offer.price); }))
      return fail(Fault::usage, field("speed") + " " + name + ": nothing of this name has a price",
                  "Add it: " + field("price") + " " + name + "=USD_AN_HOUR");
  for (const KnownDevice& device : known) {
    const auto fits = [&](const Price& price) { return likeness(price.device, priced(device.target)) > 0; };
    if (!prices.others || std::ranges::any_of(prices.prices, fits)) continue;
    offers.push_back(offer_of({.device = device.target.id, .usd_hour = *prices.others}, known, typed));
  }
  if (!offers.empty()) return offers;
  return fail(Fault::usage, "there is nothing to compare: no price of a device, or no device for a price",
              "Name some, as in " + field("price") + " T4=0.526,cpu=0.357 or " + field("price") + " prices.toml");
}

}  // namespace tutti
