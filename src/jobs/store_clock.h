#pragma once

#include <chrono>
#include <string>

#include "jobs/job.h"

namespace tutti {

/// What a store on one machine makes its time of. Leases must not run out because the clock is set, so they run on the
/// time since boot, which all processes share and which goes on during suspend; the wall clock only gives the date of
/// the first use after a boot. Thread-safe.
class StoreClock {
 public:
  virtual ~StoreClock() = default;
  virtual std::chrono::milliseconds since_boot() const = 0;
  /// Names this boot. A lease given in another one has no living owner.
  virtual std::string boot() const = 0;
  /// For people; may jump.
  virtual StoreTime wall() const = 0;

  /// CLOCK_BOOTTIME, /proc/sys/kernel/random/boot_id and CLOCK_REALTIME. Exists for the whole process.
  static const StoreClock& real();
};

}  // namespace tutti
