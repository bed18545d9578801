#include "device/telemetry/attribution.h"

#include <algorithm>

#include "device/visible.h"

namespace tutti {
namespace {

/// More than this in use while no process is shown: the processes are there, but hidden from us. Drivers that do not
/// list `reserved` separately have it in there.
constexpr Bytes kUnexplained{512 << 20}, kUnexplainedWithReserved{std::int64_t{1} << 30};

bool hides_processes(const GpuSnapshot& gpu) {
  const Bytes most = gpu.memory.reserved ? kUnexplained : kUnexplainedWithReserved;
  return gpu.processes->empty() && gpu.memory.used && *gpu.memory.used > most;
}

void split_memory(GpuSnapshot& gpu) {
  Bytes own{};
  for (const auto& process : *gpu.processes) {
    if (!process.own) continue;
    if (!process.memory) return;
    own.value += process.memory->value;
  }
  gpu.memory.own = own;
  if (gpu.memory.used) gpu.memory.foreign = Bytes{std::max<std::int64_t>(0, gpu.memory.used->value - own.value)};
}

void split_utilisation(GpuSnapshot& gpu) {
  if (!gpu.utilisation.by_process || !gpu.utilisation.gpu) return;
  double own = 0, foreign = 0;
  for (const auto& process : *gpu.processes) (process.own ? own : foreign) += process.utilisation.value_or(0);
  if (own + foreign == 0 && *gpu.utilisation.gpu > 0) return;  // the driver names no process that makes it busy
  gpu.utilisation.own = std::min(own, 1.0);
  gpu.utilisation.foreign = std::min(foreign, 1.0);
}

}  // namespace

void attribute_load(GpuSnapshot& gpu, const HostSnapshot& host) {
  if (!gpu.processes) return;
  bool are_all_known = true;
  for (auto& process : *gpu.processes) {
    const auto found = std::find_if(host.processes.begin(), host.processes.end(),
                                    [&](const ProcessSnapshot& each) { return each.pid == process.pid; });
    if (found == host.processes.end()) {
      are_all_known = false;
      continue;
    }
    process.own = found->own;
    process.name = found->name;
  }
  // In a container the driver may give the machine's process numbers: those unknown here may be ours.
  if (!are_all_known || hides_processes(gpu)) return;
  split_memory(gpu);
  split_utilisation(gpu);
}

std::optional<std::string> number_as_cuda(std::vector<GpuSnapshot>& gpus,
                                          const std::optional<std::string>& visible_devices) {
  std::vector<Gpu> present;
  for (const auto& gpu : gpus) {
    if (!gpu.index) continue;
    Gpu each{.index = *gpu.index, .uuid = gpu.uuid, .name = gpu.name, .pci_bus_id = gpu.pci_bus_id};
    each.mig = gpu.mig;
    each.mig_devices = gpu.mig_devices;
    present.push_back(std::move(each));
  }
  const auto visible = visible_gpus(present, visible_devices);
  for (std::size_t n = 0; n < visible.gpus.size(); ++n)
    for (auto& gpu : gpus)
      if (gpu.index == visible.gpus[n].index && !gpu.cuda_order) gpu.cuda_order = static_cast<int>(n);
  return visible.problem;
}

}  // namespace tutti
