#include <utility>

#include "transcribe/pool/pool_state.h"

namespace tutti {

// What others see of a pool.

namespace {

PooledDeviceView shown(const DeviceView& device, const PoolMember& member, Seconds now) {
  PooledDeviceView view{.id = device.id,
                        .name = member.ready ? member.ready->device_name : std::string(),
                        .state = std::string(member.gone ? "failed" : name_of(device.state)),
                        .reason = member.gone ? member.gone->what : device.state_reason,
                        .since = now - device.state_since,
                        .windows = device.pieces,
                        .jobs = device.jobs,
                        .slots = device.slots,
                        .job_cap = device.job_cap,
                        .reserved = device.reserved,
                        .speed = device.speed,
                        .speed_known = member.facts.speed_known || device.speed != member.facts.speed,
                        .error = device.error,
                        .audio_done = device.audio_done,
                        .windows_done = device.windows_done,
                        .busy = device.busy,
                        .idle = device.idle,
                        .refusal = device.refusal,
                        .restarts = member.restarts,
                        .gone = member.gone ? std::optional(member.gone->fault) : std::nullopt,
                        .process = member.worker ? member.worker->process() : std::nullopt,
                        .memory_loss = device.memory_loss};
  return view;
}

}  // namespace

PoolView PoolState::view() {
  PoolView view;
  view.elapsed = now();
  const auto devices = dispatcher.devices(view.elapsed);
  for (DeviceIndex device = 0; device < devices.size(); ++device) {
    view.devices.push_back(shown(devices[device], members[device], view.elapsed));
    view.devices.back().speeds = dispatcher.speeds(device);
  }
  const auto queue = dispatcher.queue(view.elapsed);
  view.expected_left = queue.expected_left;
  view.error = queue.error;
  if (const auto next = dispatcher.next_device(view.elapsed)) view.next_device = members[*next].facts.id;
  return view;
}

void PoolState::note_first_grant(PoolJobRecord& job, const Grant& grant) {
  if (std::exchange(job.granted, true)) return;
  FirstGrant first{.job = grant.job, .device = members[grant.device].facts.id, .before = view()};
  PooledDeviceView& device = first.before.devices[grant.device];
  --device.windows;
  --device.jobs;
  first.before.next_device = first.device;
  first_grants.push_back(std::move(first));
}

}  // namespace tutti
