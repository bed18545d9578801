#include "flow/virtual_clock.h"

#include <chrono>

#include "metrics/recording_request.h"

namespace tutti {
namespace {

constexpr double kHeldBack = 0.5;  // its speed then

}  // namespace

Seconds VirtualClock::now_at(Clock::Instant instant) const {
  const Seconds passed = instant - changed_at_;
  return then_ + (holds_ > 0 ? kHeldBack : 1) * passed;
}

Seconds VirtualClock::now() const {
  const MutexLock lock(mutex_);
  return now_at(Clock::real().now());
}

Seconds VirtualClock::delays() const {
  const MutexLock lock(mutex_);
  const auto instant = Clock::real().now();
  return Seconds(instant - start_) - now_at(instant);
}

bool VirtualClock::sleep_until(Seconds at) {
  MutexLock lock(mutex_);
  for (;;) {
    if (is_stopped_) return false;
    const auto instant = Clock::real().now();
    const Seconds left = at - now_at(instant);
    if (left.count() <= 0) return true;
    const Seconds real = left / (holds_ > 0 ? kHeldBack : 1);
    changed_.wait_until(lock.held(), instant + std::chrono::ceil<std::chrono::nanoseconds>(real));
  }
}

void VirtualClock::stop() {
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
}

void VirtualClock::change_holds(int by) {
  bool is_other = false;
  {
    const MutexLock lock(mutex_);
    const auto instant = Clock::real().now();
    then_ = now_at(instant);
    changed_at_ = instant;
    const bool was_held = holds_ > 0;
    holds_ += by;
    is_other = was_held != (holds_ > 0);
  }
  if (is_other) changed_.notify_all();
}

VirtualSpeedup* VirtualSpeedup::of_process() {
  static const std::unique_ptr<VirtualSpeedup> requested = [] {
    const auto& sped_up = recording_request().sped_up;
    return sped_up.empty() ? nullptr : std::make_unique<VirtualSpeedup>(sped_up);
  }();
  return requested.get();
}

}  // namespace tutti
