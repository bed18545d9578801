#include "profile/fair_permits.h"

#include <algorithm>

namespace tutti {

std::optional<Seconds> FairPermits::acquire(Seconds wanted) {
  MutexLock lock(mutex_);
  if (is_stopped_) return std::nullopt;
  if (!free_.empty()) {
    const Seconds since = free_.front();
    free_.pop_front();
    return std::max(wanted, since);
  }
  Waiter me;
  waiting_.push_back(&me);
  me.called.wait(lock.held(), [&]() TUTTI_REQUIRES(mutex_) { return me.permit || is_stopped_; });
  if (!me.permit) return std::nullopt;
  return std::max(wanted, *me.permit);
}

void FairPermits::release(Seconds at) {
  const MutexLock lock(mutex_);
  if (waiting_.empty()) {
    // The one that is free for longest is taken first.
    free_.insert(std::ranges::upper_bound(free_, at), at);
    return;
  }
  Waiter* next = waiting_.front();
  waiting_.pop_front();
  next->permit = at;
  next->called.notify_one();  // under the lock: `next` is gone as soon as its thread has it
}

void FairPermits::stop() {
  const MutexLock lock(mutex_);
  is_stopped_ = true;
  for (Waiter* waiter : waiting_) waiter->called.notify_one();
  waiting_.clear();
}

}  // namespace tutti
