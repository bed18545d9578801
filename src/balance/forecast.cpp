#include "balance/forecast.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kMustWinBy = 1.1;  // hysteresis: how much sooner a piece must end where the model is not there yet

}  // namespace

Forecast::Forecast(const Scene& scene) {
  const Seconds piece = scene.queue.piece_unplaced();
  double audio = scene.queue.audio_unplaced(), speed = 0;
  for (const DeviceRecord& record : scene.devices) {
    Device device{.in_service = record.health().in_service(),
                  .ready_in = record.ready_in().value_or(Seconds{}).count(),
                  .through = record.through(piece)};
    device.plan = {.speed = record.speed(), .single = record.single(), .fixed = record.fixed().count()};
    device.plan.free_in = device.ready_in;
    if (device.in_service) {
      const double in_flight = record.audio_in_flight();
      device.plan.free_in = in_flight / device.plan.speed;
      audio += in_flight * (device.through / device.plan.speed);  // as if it were such pieces
    }
    // Soon it takes its part: until then the others must not take so much that they end after everybody.
    const bool starting = record.health().state() == DeviceState::starting && device.ready_in == 0;
    if (device.in_service || starting) speed += device.through;
    devices_.push_back(device);
  }
  expect_end(audio, speed);
}

/// Devices that load take their part from then on, the first one first; none where all is done before.
void Forecast::expect_end(double audio, double speed) {
  std::vector<const Device*> loading;
  for (const Device& device : devices_)
    if (device.ready_in > 0) loading.push_back(&device);
  std::ranges::sort(loading, {}, &Device::ready_in);
  for (const Device* it : loading) {
    if (speed > 0 && it->ready_in >= audio / speed) break;
    audio += it->ready_in * it->through;
    speed += it->through;
  }
  end_ = speed > 0 ? audio / speed : 0;
}

double Forecast::finish(DeviceIndex device, double audio) const {
  const PlanDevice& it = devices_[device].plan;
  const double ready_in = devices_[device].ready_in;
  const double done = it.fixed + std::max(it.free_in + audio / it.speed, ready_in + audio / it.single);
  return ready_in > 0 ? done * kMustWinBy : done;
}

PlanDevice Forecast::plan_of(DeviceIndex device) const {
  PlanDevice plan = devices_[device].plan;
  if (devices_[device].ready_in > 0) plan.free_in *= kMustWinBy;
  return plan;
}

double Forecast::longest_by_end(DeviceIndex device) const {
  const PlanDevice& it = devices_[device].plan;
  return std::min((end_ - it.free_in - it.fixed) * it.speed, (end_ - it.fixed) * it.single);
}

void Forecast::put(DeviceIndex device, double audio) {
  PlanDevice& it = devices_[device].plan;
  it.free_in += it.fixed + audio / it.speed;
}

}  // namespace tutti
