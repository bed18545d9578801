#include "cli/plan/plan_devices.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/plan/capacity.h"
#include "device/emulated_spec.h"
#include "device/list/device_list.h"
#include "device/machine.h"
#include "hub/memory_plan.h"
#include "jobs/open_store.h"
#include "transcribe/batch/batch_pool.h"

namespace tutti {
namespace {

/// None where no batch has made one yet.
Result<std::unique_ptr<JobStore>> store_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "tutti.sqlite", ignored)) return nullptr;
  return open_store({.folder = folder});
}

/// How well a speed measured with the type `known` stands for the one asked for; 0: not at all.
int likeness(const std::string& known, const SpeedQuestion& question, bool on_cpu) {
  constexpr int kSame = 4, kTheSameThere = 3, kChosenThere = 2, kOther = 1;
  const std::string& asked = question.compute_type;
  if (known == asked) return kSame;
  if (!question.any_type || asked != "default") return 0;
  if (known == "auto") return kChosenThere;
  return type_on(known, on_cpu) == type_on(asked, on_cpu) ? kTheSameThere : kOther;
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
  const auto listed = parse_device_list(list);
  if (!listed) return tl::unexpected(listed.error());
  const auto chosen = choose_devices(*listed, machine);
  if (!chosen) return tl::unexpected(chosen.error());
  std::vector<PlanTarget> targets;
  for (const auto& device : *chosen) targets.push_back(plan_target(device));
  return targets;
}

Result<void> add_known_speeds(std::vector<PlanTarget>& targets, const std::filesystem::path& folder,
                              const SpeedQuestion& question) {
  constexpr double kLeastError = 0.02;
  const auto store = store_in(folder);
  if (!store) return tl::unexpected(store.error());
  if (!*store) return {};
  const auto speeds = (*store)->speeds(false);
  if (!speeds) return tl::unexpected(speeds.error());
  for (PlanTarget& target : targets) {
    if (target.speed) continue;
    std::tuple best{0, 0};
    for (const auto& known : *speeds) {
      if (known.key.device != target.record || known.key.model != question.model || known.speed <= 0) continue;
      const std::tuple worth{likeness(known.key.compute_type, question, target.on_cpu), known.key.concurrency};
      if (std::get<0>(worth) == 0 || worth < best) continue;
      best = worth;
      target.speed = known.speed;
      target.speed_type = known.key.compute_type;
      target.speed_error = std::max(kLeastError, known.median_error.value_or(PlanTarget{}.speed_error));
    }
  }
  return {};
}

Result<void> add_known_watts(std::vector<PlanTarget>& targets, const std::filesystem::path& folder) {
  const auto store = store_in(folder);
  if (!store) return tl::unexpected(store.error());
  if (!*store) return {};
  const auto runs = (*store)->runs(kRunsAsked);
  if (!runs) return tl::unexpected(runs.error());
  std::map<std::string, std::pair<double, Seconds>> drawn;
  for (const auto& run : *runs)
    for (const auto& use : run.end.devices)
      if (use.energy_joules) {
        drawn[use.device].first += *use.energy_joules;
        drawn[use.device].second += run.end.elapsed;
      }
  for (PlanTarget& target : targets) {
    const auto found = drawn.find(target.record);
    if (found == drawn.end() || found->second.second <= Seconds(0)) continue;
    target.watts = found->second.first / found->second.second.count();
  }
  return {};
}

Result<void> add_known_load_times(std::vector<PlanTarget>& targets, const std::filesystem::path& folder,
                                  const std::string& model) {
  const auto store = store_in(folder);
  if (!store) return tl::unexpected(store.error());
  if (!*store) return {};
  const auto runs = (*store)->runs(kRunsAsked);
  if (!runs) return tl::unexpected(runs.error());
  for (PlanTarget& target : targets)
    if (!target.windows) target.warm_up = load_time_in(*runs, target.record, model);
  return {};
}

std::optional<double> watts_of(const std::vector<PlanTarget>& targets) {
  double watts = 0;
  for (const auto& target : targets) {
    if (!target.watts) return {};
    watts += *target.watts;
  }
  return watts;
}

Result<std::vector<PlanTarget>> plan_figures(std::string_view list) {
  const auto figures = parse_gpu_figures(list);
  if (!figures) return tl::unexpected(figures.error());
  std::vector<PlanTarget> targets;
  for (const auto& it : *figures)
    targets.push_back(
        {.id = "cuda:" + std::to_string(targets.size()), .name = "GPU", .speed = it.speed, .memory = it.memory});
  return targets;
}

}  // namespace tutti
