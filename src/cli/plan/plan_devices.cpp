#include "cli/plan/plan_devices.h"

#include <algorithm>

#include "device/emulated_spec.h"
#include "device/list/device_list.h"
#include "device/machine.h"
#include "hub/memory_plan.h"
#include "jobs/open_store.h"

namespace tutti {

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
                              const std::string& model, const std::string& compute_type) {
  constexpr double kLeastError = 0.02;
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "tutti.sqlite", ignored)) return {};
  const auto store = open_store({.folder = folder});
  if (!store) return tl::unexpected(store.error());
  const auto speeds = (*store)->speeds(false);
  if (!speeds) return tl::unexpected(speeds.error());
  for (PlanTarget& target : targets) {
    if (target.speed) continue;
    int most = 0;
    for (const auto& known : *speeds) {
      if (known.key.device != target.record || known.key.model != model || known.key.compute_type != compute_type ||
          known.speed <= 0 || known.key.concurrency < most)
        continue;
      most = known.key.concurrency;
      target.speed = known.speed;
      target.speed_error = std::max(kLeastError, known.median_error.value_or(target.speed_error));
    }
  }
  return {};
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
