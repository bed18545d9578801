#include "jobs/store_clock.h"

#include <ctime>

#include "base/files.h"

namespace tutti {
namespace {

std::chrono::milliseconds read_clock(clockid_t which) {
  timespec time{};
  ::clock_gettime(which, &time);
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                               std::chrono::nanoseconds(time.tv_nsec));
}

class MachineClock final : public StoreClock {
 public:
  std::chrono::milliseconds since_boot() const override { return read_clock(CLOCK_BOOTTIME); }
  std::string boot() const override {
    auto id = read_file("/proc/sys/kernel/random/boot_id").value_or("unknown");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
  }
  StoreTime wall() const override { return StoreTime(read_clock(CLOCK_REALTIME)); }
};

}  // namespace

const StoreClock& StoreClock::real() {
  static const MachineClock clock;
  return clock;
}

}  // namespace tutti
