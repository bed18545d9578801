#include "transcribe/pool/pool_machine.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "balance/window_cost.h"
#include "base/log.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr double kLeastShare = 0.05;
constexpr std::int64_t kLeastLeft = 512LL << 20;

/// The whole GPU only: a slice (MIG-…) has its memory to itself.
const GpuSnapshot* whole_gpu(const MachineSnapshot& machine, const std::string& uuid) {
  const GpuSnapshot* gpu = uuid.empty() ? nullptr : machine.gpu(uuid);
  return gpu && gpu->uuid == uuid ? gpu : nullptr;
}

std::int64_t bytes_of(const std::optional<Bytes>& bytes) {
  return bytes.value_or(Bytes{}).value;
}

}  // namespace

std::optional<Bytes> used_by_others(const GpuMemory& memory, std::optional<Bytes> before) {
  if (memory.foreign) return Bytes{memory.foreign->value + bytes_of(memory.reserved)};
  return before;
}

DeviceLoad device_load_of(const GpuSnapshot& gpu, Clock::Instant now) {
  constexpr Seconds kOld{10};
  const auto age = gpu.age(now);
  if (gpu.state != GpuState::ok || !gpu.utilisation.gpu || !age || *age > kOld) return {};
  return {.busy = gpu.utilisation.gpu, .foreign = gpu.utilisation.foreign};
}

std::optional<DeviceFault> device_fault_of(const GpuSnapshot& gpu) {
  // The entries of NVIDIA's Xid catalogue that say RESET_GPU. The GPU's state shows 79, off the bus, and ends with it.
  constexpr int kNeedsReset[] = {46, 48, 62, 64, 95, 109, 119, 120, 140};
  if (gpu.state != GpuState::ok) return DeviceFault{.lost = true, .what = gpu.reason};
  if (gpu.errors.recovery_action && *gpu.errors.recovery_action != "none")
    return DeviceFault{.what = "the driver requests recovery: " + *gpu.errors.recovery_action};
  if (!gpu.errors.xids) return {};
  std::string codes;
  for (const int code : kNeedsReset) {
    const auto found = gpu.errors.xids->find(code);
    if (found == gpu.errors.xids->end()) continue;
    codes += (codes.empty() ? "Xid " : ", Xid ") + std::to_string(code);
    if (found->second.count > 1) codes += " (" + std::to_string(found->second.count) + " times)";
  }
  if (codes.empty()) return {};
  return DeviceFault{.what = "the driver reported " + codes + ", after which it needs a reset"};
}

std::optional<std::string> memory_shortage(const MemoryFacts& memory, bool was_short) {
  const auto share = static_cast<std::int64_t>(kLeastShare * static_cast<double>(memory.total.value));
  const std::int64_t least = std::max(kLeastLeft, share) / 2 * (was_short ? 3 : 2);
  if (memory.available.value >= least) return {};
  return gigabytes_text(memory.available) + " of this machine's " + gigabytes_text(memory.total) +
         " of memory are left: nothing is begun beside what is in work";
}

void describe_cores(const HostSnapshot& host, std::optional<int> core, std::optional<int> worker,
                    DeviceStatus& status) {
  const auto& all = host.core_busy;
  std::optional<double> busy = host.busy;
  if (core) busy = static_cast<std::size_t>(*core) < all.size() ? all[static_cast<std::size_t>(*core)] : std::nullopt;
  const auto cores = core ? 1 : std::ranges::count_if(all, [](const auto& one) { return one.has_value(); });
  if (!worker) {
    status.foreign_load = busy;
    return;
  }
  const auto process = std::ranges::find(host.processes, *worker, &ProcessSnapshot::pid);
  if (process == host.processes.end()) return;
  status.own_memory = process->resident;
  status.total_memory = host.memory_total;
  if (!process->cores || cores == 0) return;
  status.own_load = std::clamp(*process->cores / static_cast<double>(cores), 0.0, 1.0);
  if (busy) status.foreign_load = std::max(0.0, *busy - *status.own_load);
}

DeviceTime device_time(const PooledDeviceView& device) {
  return {.id = device.id,
          .busy = device.busy,
          .idle = device.idle,
          .audio = device.audio_done,
          .windows = device.windows_done,
          .rated = device.rated};
}

DeviceStatus device_status(const PooledDeviceView& device, const ChosenDevice& chosen, Seconds elapsed) {
  DeviceStatus status{.id = chosen.label,
                      .name = chosen.device.name,
                      .uuid = chosen.device.uuid,
                      .state = device.state,
                      .reason = device.reason,
                      .since = device.since,
                      .jobs = static_cast<std::size_t>(device.jobs),
                      .windows = static_cast<std::size_t>(device.windows),
                      .most_windows = static_cast<std::size_t>(std::max(0, device.slots)),
                      .audio_done = device.audio_done};
  // What it has done, not what the speed model makes of the first windows; while most of its time went into windows
  // that are still in flight, rather what is expected of it.
  const bool is_representative = !device.speed_known || device.audio_done >= 2 * device.windows * kFullWindow;
  if (device.busy > Seconds(0) && device.audio_done > Seconds(0) && is_representative)
    status.speed = device.audio_done / device.busy;
  if (device.speed_known) status.usual_speed = device.speed;
  if (const auto& loss = device.memory_loss; loss && loss->now)
    status.memory_limit = "has run out of memory: at most " + std::to_string(*loss->now) + " of " +
                          std::to_string(loss->all) + " windows at once for now";
  if (device.job_cap) status.most_jobs = static_cast<std::size_t>(*device.job_cap);
  if (elapsed > Seconds(0)) status.busy_share = device.busy / elapsed;
  if (chosen.device.kind == ResolvedDevice::Kind::emulated) {
    status.own_memory = device.reserved;
    status.total_memory = chosen.device.card.memory;
    status.usual_speed = chosen.device.card.speed;
    status.own_load = device.windows > 0 ? 1.0 : 0.0;
  }
  if (status.state == "draining" && device.windows == 0) status.state = "drained";
  return status;
}

PoolMachine::PoolMachine(const PoolOptions& options) : options_(options) {
  constexpr auto kCpu = ResolvedDevice::Kind::cpu;
  if (std::ranges::any_of(options.devices, [](const auto& device) { return device.device.kind == kCpu; }))
    cores_.emplace();
  const bool any = std::ranges::any_of(options.devices, [](const auto& device) { return !device.device.uuid.empty(); });
  if (!any) return;
  sampler_ = std::make_unique<Sampler>();
  constexpr Seconds kFirstLook{3};
  const auto machine = sampler_->settled(kFirstLook);  // before it the driver has reported no energy
  for (const auto& device : options.devices) {
    const GpuSnapshot* gpu = device.device.uuid.empty() ? nullptr : machine->gpu(device.device.uuid);
    if (gpu && gpu->energy) energy_.with([&](auto& meters) { meters[device.id].reads(*gpu->energy); });
  }
  for (const auto& gpu : machine->gpus)
    if (gpu.memory.used) used_before_[gpu.uuid] = {gpu.memory.used->value + bytes_of(gpu.memory.reserved)};
}

std::optional<std::string> PoolMachine::shortage() {
  const auto memory = read_memory();
  auto why = memory ? memory_shortage(*memory, was_short_) : std::nullopt;
  was_short_ = why.has_value();
  return why;
}

void PoolMachine::report_gpus(DevicePool& pool) {
  if (!sampler_) return;
  read_energy();
  const auto machine = sampler_->latest();
  for (const auto& device : options_.devices) {
    const GpuSnapshot* gpu = device.device.uuid.empty() ? nullptr : machine->gpu(device.device.uuid);
    if (!gpu) continue;
    pool.report_driver_state(device.id, device_fault_of(*gpu));
    report_load(pool, device.id, *gpu);
    const GpuSnapshot* whole = whole_gpu(*machine, device.device.uuid);
    const auto before = whole ? used_before_.find(whole->uuid) : used_before_.end();
    if (!whole) continue;
    if (const auto others =
            used_by_others(whole->memory, before == used_before_.end() ? std::nullopt : std::optional(before->second)))
      pool.others_use(device.id, *others);
  }
}

/// The snapshot is NVML's or nvidia-smi's. Where neither has one, the note's words name what is scored by then.
void PoolMachine::report_load(DevicePool& pool, const std::string& device, const GpuSnapshot& gpu) {
  const DeviceLoad load = device_load_of(gpu, Clock::real().now());
  pool.report_load(device, load);
  const bool is_lost = !load.busy;
  const bool was_lost = std::exchange(load_lost_[device], is_lost);
  const auto policy = policy_named(options_.policy);
  const bool counts = policy == Policy::note || policy == Policy::note_raw;
  if (counts && is_lost && !was_lost)
    log(Level::warning, "Failed to query nvidia-smi, using task count only (" + device + ")");
}

void PoolMachine::look_at_cores() {
  if (!cores_) return;
  HostSnapshot host = cores_->read(Clock::real().now(), ::getpid(), {});
  host_.change([&](HostSnapshot& latest) { latest = std::move(host); });
}

void PoolMachine::describe(std::size_t device, std::optional<int> worker, DeviceStatus& status) const {
  const ResolvedDevice& chosen = options_.devices[device].device;
  if (chosen.kind == ResolvedDevice::Kind::cpu)
    return host_.with([&](const HostSnapshot& host) { describe_cores(host, chosen.core, worker, status); });
  const auto machine = sampler_ ? sampler_->latest() : nullptr;
  const GpuSnapshot* gpu = machine ? machine->gpu(options_.devices[device].device.uuid) : nullptr;
  if (!gpu) return;
  status.load = device_load_of(*gpu, Clock::real().now()).busy;
  status.own_load = gpu->utilisation.own ? gpu->utilisation.own : status.load;
  status.foreign_load = gpu->utilisation.foreign;
  if (gpu->memory.own) status.own_memory = gpu->memory.own;
  status.foreign_memory = gpu->memory.foreign;
  if (gpu->memory.total) status.total_memory = gpu->memory.total;
  status.watts = gpu->power;
  status.celsius = gpu->temperatures.gpu;
  status.data_age = gpu->age(Clock::real().now());
}

void PoolMachine::read_energy() {
  if (!sampler_) return;
  energy_.with([&](auto& meters) {
    const auto machine = sampler_->latest();  // under the lock, so that no older one comes after it
    for (const auto& device : options_.devices) {
      const auto meter = meters.find(device.id);
      const GpuSnapshot* gpu = meter == meters.end() ? nullptr : machine->gpu(device.device.uuid);
      if (gpu && gpu->energy) meter->second.reads(*gpu->energy);
    }
  });
}

std::map<std::string, double> PoolMachine::energy_by_device() {
  read_energy();
  std::map<std::string, double> drawn;
  energy_.with([&](const auto& meters) {
    for (const auto& [device, meter] : meters) drawn[device] = meter.drawn();
  });
  return drawn;
}

std::optional<double> PoolMachine::energy() {
  const auto drawn = energy_by_device();
  double sum = 0;
  for (const auto& device : options_.devices) {
    if (device.device.uuid.empty()) continue;
    const auto found = drawn.find(device.id);
    if (found == drawn.end()) return {};
    sum += found->second;
  }
  return sampler_ ? std::optional(sum) : std::nullopt;
}

}  // namespace tutti
