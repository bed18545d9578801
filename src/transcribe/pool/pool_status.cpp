#include "transcribe/pool/pool_status.h"

#include <algorithm>

#include "balance/window_cost.h"

namespace tutti {

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

}  // namespace tutti
