#include "planning/plan_devices.h"

#include <algorithm>

#include "base/field_names.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/emulated_spec.h"
#include "device/list/device_list.h"
#include "device/machine.h"
#include "hub/memory_plan.h"
#include "jobs/open_store.h"
#include "transcribe/pool/pool_plan.h"

namespace tutti {
namespace {

/// How well a speed measured with the type `known` predicts that of the requested one; 0: not at all.
int likeness(const std::string& known, const SpeedQuestion& question, bool on_cpu) {
  constexpr int kSame = 4, kTheSameThere = 3, kChosenThere = 2, kOther = 1;
  const std::string& requested = question.compute_type;
  if (known == requested) return kSame;
  if (!question.any_type || requested != "default") return 0;
  if (known == "auto") return kChosenThere;
  return type_on(known, on_cpu) == type_on(requested, on_cpu) ? kTheSameThere : kOther;
}

/// Returns how much audio is remembered in it: a sample is a full window's.
Seconds add_speed(PlanTarget& target, const std::vector<SpeedRecord>& speeds, const SpeedQuestion& question) {
  constexpr double kLeastError = 0.02;
  int best = 1;
  Seconds remembered{};
  for (const auto& known : speeds) {
    if (known.key.device != target.record || known.key.model != question.model || known.speed <= 0) continue;
    const int worth = likeness(known.key.compute_type, question, target.on_cpu);
    if (worth < best) continue;  // the later of two equally good ones
    best = worth;
    target.speed = known.speed;
    target.speed_type = known.key.compute_type;
    target.speed_error = std::max(kLeastError, known.median_error.value_or(PlanTarget{}.speed_error));
    remembered = static_cast<double>(known.samples) * kFullWindow;
  }
  return remembered;
}

/// From the batches that the speed is of. While most of what it remembers is from before windows were counted, nothing.
void add_window_cost(PlanTarget& target, const std::vector<RunRecord>& runs, const std::string& model,
                     Seconds remembered) {
  std::vector<WindowWork> work;
  Seconds counted{};
  for (const auto& run : runs) {
    if (run.start.model != model || run.start.compute_type != target.speed_type) continue;
    for (const auto& use : run.end.devices) {
      if (use.device != target.record || use.windows.value_or(0) <= 0) continue;
      if (use.audio <= Seconds(0) || use.busy <= Seconds(0)) continue;
      work.push_back({.windows = static_cast<double>(*use.windows),
                      .audio = use.audio,
                      .busy = use.busy,
                      .capacity = use.window_capacity.value_or(1)});
      counted += use.audio;
    }
  }
  if (!work.empty() && 2 * counted >= remembered) target.window_cost.emplace(work);
}

void add_watts(PlanTarget& target, const std::vector<RunRecord>& runs) {
  double joules = 0;
  Seconds time{};
  for (const auto& run : runs)
    for (const auto& use : run.end.devices)
      if (use.device == target.record && use.energy_joules) {
        joules += *use.energy_joules;
        time += run.end.elapsed;
      }
  if (time > Seconds(0)) target.watts = joules / time.count();
}

}  // namespace

PlanTarget plan_target(const ChosenDevice& chosen) {
  const ResolvedDevice& device = chosen.device;
  PlanTarget target{.id = chosen.label, .name = device.name, .record = chosen.id, .memory = device.memory};
  switch (device.kind) {
    case ResolvedDevice::Kind::emulated:
      target.speed = device.card.speed;
      target.windows = windows_in_flight(device.card.windows());
      target.model_memory = EmulatedCard::kModel;
      target.window_memory = EmulatedCard::kWindow;
      target.jitter = device.card.jitter;
      target.warm_up = device.card.warm_up;
      target.failures = device.card.failures;
      break;
    case ResolvedDevice::Kind::cuda: break;
    case ResolvedDevice::Kind::cpu:
      target.on_cpu = true;
      if (const auto memory = read_memory()) target.memory = memory->available;
      break;
  }
  return target;
}

Result<std::vector<PlanTarget>> plan_targets(std::string_view list, const MachineDevices& machine) {
  const auto listed = TRY(parse_device_list(list));
  const auto chosen = TRY(choose_devices(listed, machine));
  std::vector<PlanTarget> targets;
  for (const auto& device : chosen) targets.push_back(plan_target(device));
  return targets;
}

Result<DevicePast> read_device_past(const StoreUrl& url) {
  const auto store = TRY(open_store_if_there(url));
  if (!store) return DevicePast{};
  auto speeds = TRY(store->speeds(false));
  auto runs = TRY(store->runs(kRunsRead));
  return DevicePast{std::move(speeds), std::move(runs)};
}

void add_past(std::vector<PlanTarget>& targets, const DevicePast& past, const SpeedQuestion& question) {
  for (PlanTarget& target : targets) {
    if (!target.speed) {
      const Seconds remembered = add_speed(target, past.speeds, question);
      if (target.speed) add_window_cost(target, past.runs, question.model, remembered);
    }
    if (!target.windows) target.warm_up = load_time_in(past.runs, target.record, question.model);
    add_watts(target, past.runs);
  }
}

std::optional<double> speech_share(const std::vector<RunRecord>& runs, const std::string& model) {
  constexpr Seconds kSupposed{3600};
  Seconds speech{}, audio{};
  for (const RunRecord& run : runs) {
    const bool whole = run.end.successful + run.end.failed + run.end.cancelled == run.end.total;
    if (run.start.model != model || !whole)
      continue;  // devices of a stopped one worked on speech that counts as no
                 // audio yet
    audio += run.end.audio;
    for (const DeviceUse& use : run.end.devices) speech += use.audio;
  }
  if (audio <= Seconds(0)) return {};
  return std::min(1.0, (speech + kSupposed) / (audio + kSupposed));
}

std::optional<double> watts_of(const std::vector<PlanTarget>& targets) {
  double watts = 0;
  for (const auto& target : targets) {
    if (!target.watts) return {};
    watts += *target.watts;
  }
  return watts;
}

std::vector<PricedDevice> priced_devices(const std::vector<PlanTarget>& targets) {
  std::vector<PricedDevice> devices;
  for (const auto& target : targets)
    devices.push_back({.id = target.id, .label = target.id, .name = target.name, .on_cpu = target.on_cpu});
  return devices;
}

void set_prices(std::vector<PlanTarget>& targets, const HourlyPrices& prices) {
  for (auto& target : targets)
    if (const auto price = prices.find(target.id); price != prices.end()) target.price = price->second;
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

Result<std::vector<PlanTarget>> plan_figures(std::string_view list, const std::vector<PlanTarget>& others) {
  const auto figures = TRY(parse_gpu_figures(list));
  std::vector<PlanTarget> targets;
  int number = 0;
  for (const auto& it : figures) {
    while (std::ranges::find(others, "cuda:" + std::to_string(number), &PlanTarget::id) != others.end()) ++number;
    targets.push_back(
        {.id = "cuda:" + std::to_string(number++), .name = "GPU", .speed = it.speed, .memory = it.memory});
  }
  return targets;
}

Result<std::vector<PlanTarget>> training_figures(std::string_view list) {
  std::vector<PlanTarget> targets;
  for (const auto word : split(list, ',')) {
    const auto fields = split(word, ':');
    const auto size =
        std::ranges::find_if(fields, [](std::string_view field) { return parse_bytes(field).has_value(); });
    if (size == fields.end() || fields.size() > 2)
      return fail(Fault::usage, field("gpus") + ": expected a size such as 24GB, found '" + std::string(word) + "'");
    targets.push_back({.id = std::string(*size), .name = std::string(*size), .memory = parse_bytes(*size)});
  }
  return targets;
}

}  // namespace tutti
