#pragma once

#include <chrono>
#include <string>

namespace tutti {

/// A moment by a store's clock, in milliseconds since 1970 as that store counts them. Moments of one store compare;
/// they may differ from the wall clock by what somebody corrected it by since the machine started.
using StoreTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// What a store on one machine makes its time of. Leases must not run out because somebody sets the clock, so they run
/// on the time since boot, which all processes share and which goes on during suspend; the wall clock only says what
/// date it was at the first use after a boot. Thread-safe.
class StoreClock {
 public:
  virtual ~StoreClock() = default;
  virtual std::chrono::milliseconds since_boot() const = 0;
  /// Names this boot. A lease given in another one has no living owner.
  virtual std::string boot() const = 0;
  /// For people; may jump.
  virtual StoreTime wall() const = 0;

  /// CLOCK_BOOTTIME, /proc/sys/kernel/random/boot_id and CLOCK_REALTIME. Lives for the whole process.
  static const StoreClock& real();
};

}  // namespace tutti
