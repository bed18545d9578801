#include "transcribe/batch/batch_machine.h"

#include <algorithm>

namespace tutti {

BatchMachine::BatchMachine(const BatchOptions& options) : options_(options) {
  const bool any = std::ranges::any_of(options.devices, [](const auto& device) { return !device.device.uuid.empty(); });
  if (!any) return;
  sampler_ = std::make_unique<Sampler>();
  constexpr Seconds kFirstLook{3};
  sampler_->settled(kFirstLook);  // before it the driver has said nothing of energy
  energy_at_start_ = energy_now();
}

void BatchMachine::tell(DevicePool& pool) const {
  if (!sampler_) return;
  const auto machine = sampler_->latest();
  for (const auto& device : options_.devices) {
    const GpuSnapshot* gpu = device.device.uuid.empty() ? nullptr : machine->gpu(device.device.uuid);
    if (!gpu) continue;
    const bool well = gpu->state == GpuState::ok;
    pool.driver_says(device.id, well ? std::nullopt : std::optional(gpu->reason));
  }
}

void BatchMachine::describe(std::size_t device, DeviceStatus& status) const {
  const auto machine = sampler_ ? sampler_->latest() : nullptr;
  const GpuSnapshot* gpu = machine ? machine->gpu(options_.devices[device].device.uuid) : nullptr;
  if (!gpu) return;
  if (gpu->utilisation.own || gpu->utilisation.gpu)
    status.own_load = gpu->utilisation.own ? gpu->utilisation.own : gpu->utilisation.gpu;
  status.foreign_load = gpu->utilisation.foreign;
  status.own_memory = gpu->memory.own;
  status.foreign_memory = gpu->memory.foreign;
  if (gpu->memory.total) status.total_memory = gpu->memory.total;
  status.watts = gpu->power;
  status.celsius = gpu->temperatures.gpu;
  status.data_age = gpu->age(Clock::real().now());
}

std::optional<double> BatchMachine::energy_now() const {
  const auto machine = sampler_->latest();
  double sum = 0;
  for (const auto& device : options_.devices) {
    if (device.device.uuid.empty()) continue;
    const GpuSnapshot* gpu = machine->gpu(device.device.uuid);
    if (!gpu || !gpu->energy) return {};
    sum += *gpu->energy;
  }
  return sum;
}

std::optional<double> BatchMachine::energy() const {
  const auto now = sampler_ ? energy_now() : std::nullopt;
  if (!now || !energy_at_start_) return {};
  return *now - *energy_at_start_;
}

}  // namespace tutti
