#include "cli/plan/plan_devices.h"

#include "device/device_spec.h"
#include "device/emulated_spec.h"
#include "device/machine.h"
#include "device/visible.h"

namespace tutti {
namespace {

PlanTarget gpu_target(const Gpu& gpu, std::string id) {
  return {.id = std::move(id), .name = gpu.name.value_or("GPU"), .memory = gpu.memory_total};
}

PlanTarget cpu_target(const MachineDevices& machine, std::string id) {
  const auto memory = read_memory();
  return {.id = std::move(id),
          .name = machine.cpu,
          .memory = memory ? std::optional(memory->available) : std::nullopt,
          .on_cpu = true};
}

bool is_cpu(std::string_view word) {
  if (word == "cpu") return true;
  if (!word.starts_with("cpu:") || word.size() == 4) return false;
  return word.find_first_not_of("0123456789", 4) == std::string_view::npos;
}

Result<std::vector<PlanTarget>> automatic(const MachineDevices& machine) {
  std::vector<PlanTarget> targets;
  for (std::size_t i = 0; i < machine.visible.size(); ++i)
    targets.push_back(gpu_target(machine.visible[i], "cuda:" + std::to_string(i)));
  if (targets.empty()) targets.push_back(cpu_target(machine, "cpu"));
  return targets;
}

Result<std::vector<PlanTarget>> targets_of(std::string_view word, const MachineDevices& machine) {
  if (word == "auto") return automatic(machine);
  if (is_cpu(word)) return std::vector{cpu_target(machine, std::string(word))};
  if (word.starts_with("emulated")) {
    const auto spec = parse_emulated(word);
    if (!spec) return tl::unexpected(spec.error());
    return std::vector{
        PlanTarget{.id = std::string(word), .name = "emulated", .speed = spec->speed, .memory = spec->memory}};
  }
  const auto spec = parse_device(word);
  if (!spec) return tl::unexpected(spec.error());
  const auto resolved = resolve(*spec, machine);
  if (!resolved) return tl::unexpected(resolved.error());
  const Gpu* gpu = find_by_uuid(machine.visible, resolved->uuid);
  return std::vector{gpu_target(*gpu, std::string(word))};
}

}  // namespace

Result<std::vector<PlanTarget>> plan_targets(std::string_view list, const MachineDevices& machine) {
  std::vector<PlanTarget> targets;
  while (true) {
    const auto comma = list.find(',');
    auto found = targets_of(list.substr(0, comma), machine);
    if (!found) return found;
    targets.insert(targets.end(), found->begin(), found->end());
    if (comma == std::string_view::npos) return targets;
    list.remove_prefix(comma + 1);
  }
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
