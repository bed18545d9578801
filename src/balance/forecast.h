#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "balance/admission.h"
#include "balance/task_plan.h"

namespace tutti {

/// When things would end, seconds from now, as every device's speed and work in flight let expect. Made once for a
/// decision. Devices out of service do not count, but those whose worker is starting do in `end`.
class Forecast {
 public:
  explicit Forecast(const Scene& scene);

  /// Everything there is to do, shared out without a gap: nobody should take a piece that ends later, as long as
  /// somebody else ends it earlier.
  double end() const { return end_; }
  bool in_service(DeviceIndex device) const { return devices_[device].in_service; }
  /// A piece behind all that is in flight there. A model that is not resident is loaded first, and such a device has to
  /// win by a tenth.
  double finish(DeviceIndex device, double audio, const std::string& model) const;
  /// The longest piece that the device would end by `end`.
  double longest_by_end(DeviceIndex device) const;
  PlanDevice plan_of(DeviceIndex device, const std::string& model) const;
  /// Puts a piece on a device in thought.
  void put(DeviceIndex device, double audio);

 private:
  struct Device {
    bool in_service = false;
    PlanDevice plan{};
  };
  const Scene& scene_;
  std::vector<Device> devices_{};
  double end_ = 0;
};

}  // namespace tutti
