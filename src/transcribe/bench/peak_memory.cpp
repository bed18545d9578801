#include "transcribe/bench/peak_memory.h"

#include <algorithm>

#include "device/child_memory.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"

namespace tutti {
namespace {

constexpr Seconds kPeriod{0.25};  // a trial on a fast card is over in a second or two
constexpr Seconds kFirstLook{3};

std::string uuid_of(const std::string& device) {
  const auto spec = parse_device(device);
  const auto found = spec ? resolve(*spec, find_devices()) : tl::unexpected<Error>(spec.error());
  return found ? found->uuid : "";
}

}  // namespace

std::optional<Bytes> held_by_us(const GpuMemory& memory, std::optional<Bytes> before) {
  if (memory.own) return memory.own;
  if (!memory.used || !before) return {};
  return Bytes{std::max<std::int64_t>(0, memory.used->value - before->value)};
}

PeakMemory::PeakMemory(const std::string& device) : uuid_(uuid_of(device)) {
  if (uuid_.empty()) return;
  sampler_ = std::make_unique<Sampler>(SamplerOptions{.period = kPeriod, .pcie_period = Seconds(0)});
  sampler_->settled(kFirstLook);
  if (const auto memory = gpu_memory()) before_ = memory->used;
}

std::optional<GpuMemory> PeakMemory::gpu_memory() const {
  if (!sampler_) return {};
  const auto machine = sampler_->latest();
  const GpuSnapshot* gpu = machine->gpu(uuid_);
  // For a slice (MIG-…) the driver reports what the whole GPU holds.
  if (!gpu || gpu->uuid != uuid_) return {};
  GpuMemory memory = gpu->memory;
  // Our worker is there: a driver that shows no process hides it, too, however little is in use.
  if (gpu->processes && gpu->processes->empty()) memory.own.reset();
  return memory;
}

void PeakMemory::look() {
  if (const auto resident = largest_child()) resident_ = std::max(resident_.value_or(Bytes{}), *resident);
  const auto memory = gpu_memory();
  const auto held = memory ? held_by_us(*memory, before_) : std::nullopt;
  if (held) on_gpu_ = std::max(on_gpu_.value_or(Bytes{}), *held);
}

}  // namespace tutti
