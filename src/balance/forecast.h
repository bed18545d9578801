#pragma once

#include <vector>

#include "balance/admission.h"
#include "balance/job_plan.h"

namespace tutti {

/// When things would end, seconds from now, as every device's speed and work in flight let expect. Made once for a
/// decision. It counts on devices in service, and on those whose worker is expected to have loaded its model at a known
/// time; `end` also counts on those whose time is not known.
class Forecast {
 public:
  explicit Forecast(const Scene& scene);

  /// When all there is to do ends, shared out without a gap: a device should not take a piece that ends later, as long
  /// as another one ends it earlier.
  double end() const { return end_; }
  bool in_service(DeviceIndex device) const { return devices_[device].in_service; }
  bool counted_on(DeviceIndex device) const { return in_service(device) || devices_[device].ready_in > 0; }
  /// A piece behind all that is in flight there, or once the model is loaded; then it has to win by a tenth.
  double finish(DeviceIndex device, double audio) const;
  /// The longest piece that the device would end by `end`.
  double longest_by_end(DeviceIndex device) const;
  PlanDevice plan_of(DeviceIndex device) const;
  /// Puts a piece on a device in thought.
  void put(DeviceIndex device, double audio);

 private:
  struct Device {
    bool in_service = false;
    double ready_in = 0;  // 0: its model is there, or the time is not known
    double through = 1;   // audio seconds per second in pieces of usual length, with what they cost beside it
    PlanDevice plan{};
  };
  void expect_end(double audio, double speed);

  std::vector<Device> devices_{};
  double end_ = 0;
};

}  // namespace tutti
