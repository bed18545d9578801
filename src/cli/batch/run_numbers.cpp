#include "cli/batch/run_numbers.h"

#include "balance/types.h"

namespace tutti {
namespace {

IdleTime idle_time(const std::map<std::string, Seconds>& idle) {
  const auto of = [&](Idle why) {
    const auto found = idle.find(idle_name(why));
    return found == idle.end() ? Seconds(0) : found->second;
  };
  return {.no_task = of(Idle::no_task),
          .input = of(Idle::input),
          .memory = of(Idle::memory),
          .cap = of(Idle::cap),
          .fault = of(Idle::fault),
          .starting = of(Idle::starting),
          .left_to_faster = of(Idle::left_to_faster),
          .drained = of(Idle::drained)};
}

}  // namespace

RunNumbers run_numbers(const BatchReport& report, bool shared_files, std::optional<double> price) {
  RunNumbers run{
      .elapsed = report.elapsed, .audio = report.audio, .longest = report.longest, .shared_files = shared_files};
  // Speeds are what the devices did while they were busy, not what the speed model believes: the report is about facts.
  for (const PooledDeviceView& device : report.pool.devices)
    run.devices.push_back(
        {.id = device.id, .busy = device.busy, .idle = idle_time(device.idle), .audio = device.audio_done});
  constexpr double kSecondsAnHour = 3600;
  if (price) run.cost = *price * static_cast<double>(run.devices.size()) * run.elapsed.count() / kSecondsAnHour;
  return run;
}

}  // namespace tutti
