#include "balance/forecast.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kMustWinBy = 1.1;  // hysteresis: how much sooner a device must end a piece to change its model for it

}  // namespace

Forecast::Forecast(const Scene& scene) : scene_(scene) {
  double audio = scene.queue.audio_unplaced(), speed = 0;
  for (const DeviceBook& book : scene.devices) {
    Device device{.in_service = book.health().in_service()};
    if (device.in_service) {
      device.plan = {.speed = book.speed(), .single = book.single(), .fixed = book.fixed().count()};
      const double in_flight = book.audio_in_flight();
      device.plan.free_in = in_flight / device.plan.speed;
      audio += in_flight;
      speed += device.plan.speed;
    }
    // Soon it takes its part: until then the others must not take so much that they end after everybody.
    if (book.health().state() == DeviceState::starting) speed += book.speed();
    devices_.push_back(device);
  }
  end_ = speed > 0 ? audio / speed : 0;
}

double Forecast::finish(DeviceIndex device, double audio, const std::string& model) const {
  const PlanDevice& it = devices_[device].plan;
  const double done = it.fixed + std::max(it.free_in + audio / it.speed, audio / it.single);
  const double loading = scene_.devices[device].loading(model).count();
  return loading > 0 ? (loading + done) * kMustWinBy : done;
}

PlanDevice Forecast::plan_of(DeviceIndex device, const std::string& model) const {
  PlanDevice plan = devices_[device].plan;
  plan.free_in += kMustWinBy * scene_.devices[device].loading(model).count();
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
