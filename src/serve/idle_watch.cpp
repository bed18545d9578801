#include "serve/idle_watch.h"

#include <algorithm>

namespace tutti {

bool IdleWatch::works() const {
  if (api_.requests().in_work > 0 || !api_.idle()) return true;
  if (jobs_ && jobs_->in_work() > 0) return true;
  if (!service_) return false;
  const SpeechLoad load = service_->load();
  return !service_->ready() || load.running > 0 || load.waiting > 0;
}

bool IdleWatch::is_over() {
  const auto now = Clock::real().now();
  const bool is_busy = works();
  last_end_ = is_busy ? now : std::max(last_end_, api_.requests().last_end);
  if (is_busy) timer_.busy();
  if (timer_.left(now, last_end_) > Seconds(0)) return false;
  // Only now: the store is not to be read twice a second.
  if (jobs_ && jobs_->has_waiting()) {
    last_end_ = now;
    timer_.busy();
    return false;
  }
  return timer_.found_empty(now, last_end_);
}

}  // namespace tutti
