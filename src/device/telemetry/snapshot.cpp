#include <algorithm>

#include "device/telemetry/machine_snapshot.h"

namespace tutti {
namespace {

/// NVML's clocks event reasons from bit 1 on; bit 0 means that the GPU is idle (nvml.h, nvmlClocksEventReasons).
constexpr ThrottleReason kReasons[] = {
    {"applications_clocks_setting", "held by the clocks that are set"},
    {"sw_power_cap", "power limit reached"},
    {"hw_slowdown", "hardware slowdown"},
    {"sync_boost", "held back by its sync boost group"},
    {"sw_thermal_slowdown", "too hot, slowed by the driver"},
    {"hw_thermal_slowdown", "too hot, slowed by the hardware"},
    {"hw_power_brake_slowdown", "power brake asserted by the machine"},
    {"display_clock_setting", "held by the display's clocks"},
    {"board_limit", "limit of the board reached"},
    {"reliability", "voltage limit reached"},
};

/// hw_slowdown is, by nvml.h, one of the three: too hot, the power brake, or more power drawn than there may be.
constexpr std::string_view kHeatOrPower[] = {"sw_power_cap", "hw_slowdown", "sw_thermal_slowdown",
                                             "hw_thermal_slowdown", "hw_power_brake_slowdown"};

constexpr Seconds kLongestGap{2};

}  // namespace

std::string_view name_of(GpuState state) {
  switch (state) {
    case GpuState::ok: return "ok";
    case GpuState::lost: return "lost";
    case GpuState::hung: break;
  }
  return "hung";
}

std::vector<ThrottleReason> throttle_reasons(std::uint64_t mask) {
  std::vector<ThrottleReason> reasons;
  for (std::size_t i = 0; i < std::size(kReasons); ++i)
    if (mask >> (i + 1) & 1) reasons.push_back(kReasons[i]);
  return reasons;
}

bool ThrottleReason::is_heat_or_power() const {
  return std::ranges::find(kHeatOrPower, key) != std::end(kHeatOrPower);
}

std::optional<Seconds> GpuSnapshot::age(Clock::Instant now) const {
  if (!when) return std::nullopt;
  return now - *when;
}

Seconds time_since(const MachineSnapshot* before, const MachineSnapshot& now) {
  if (!before || before->number == 0 || before->number == now.number) return Seconds(0);
  return std::clamp(Seconds(now.when - before->when), Seconds(0), kLongestGap);
}

const GpuSnapshot* MachineSnapshot::gpu(std::string_view uuid) const {
  const auto is_it = [&](const GpuSnapshot& gpu) {
    return gpu.uuid == uuid || std::any_of(gpu.mig_devices.begin(), gpu.mig_devices.end(),
                                           [&](const MigDevice& slice) { return slice.uuid == uuid; });
  };
  const auto found = std::find_if(gpus.begin(), gpus.end(), is_it);
  return found == gpus.end() ? nullptr : &*found;
}

}  // namespace tutti
