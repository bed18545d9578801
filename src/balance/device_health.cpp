#include "balance/device_health.h"

#include <algorithm>

namespace tutti {

std::string_view name_of(DeviceState state) {
  switch (state) {
    case DeviceState::starting: return "starting";
    case DeviceState::healthy: return "healthy";
    case DeviceState::suspect: return "suspect";
    case DeviceState::open: return "open";
    case DeviceState::probing: return "probing";
    case DeviceState::warming: return "warming";
    case DeviceState::draining: return "draining";
    case DeviceState::quarantined: return "quarantined";
    case DeviceState::lost: return "lost";
  }
  return "healthy";
}

namespace {

bool serves(DeviceState state) {
  return state == DeviceState::healthy || state == DeviceState::suspect || state == DeviceState::warming;
}

}  // namespace

DeviceHealth::DeviceHealth(BreakerOptions options, bool starting)
    : options_(options), state_(starting ? DeviceState::starting : DeviceState::healthy) {}

bool DeviceHealth::in_service() const {
  return serves(state_);
}

int DeviceHealth::allowed(int slots) const {
  if (state_ != DeviceState::warming) return slots;
  const int share = warm_successes_ < options_.warm_up_successes ? 4 : 2;
  return std::max(1, slots / share);
}

std::optional<Seconds> DeviceHealth::wake_at() const {
  if (state_ == DeviceState::open) return open_until_;
  return {};
}

void DeviceHealth::become(DeviceState to, const std::string& reason, Seconds now) {
  reason_ = reason;
  if (to == state_) return;
  changes_.push_back({.at = now, .from = state_, .to = to, .reason = reason});
  state_ = to;
  since_ = now;
  canaries_passed_ = 0;
  warm_successes_ = 0;
}

void DeviceHealth::on_event(HealthEvent event, const std::string& reason, Seconds now) {
  const bool gone = state_ == DeviceState::lost || state_ == DeviceState::quarantined;
  switch (event) {
    case HealthEvent::ready:
      starts_again_ = false;
      if (!has_failed_) well_at_ = now;
      if (state_ == DeviceState::starting) become(in_a_row_ ? DeviceState::suspect : DeviceState::healthy, reason, now);
      if (state_ == DeviceState::draining && before_drain_ == DeviceState::starting)
        before_drain_ = DeviceState::healthy;
      break;
    case HealthEvent::restarting:
      starts_again_ = true;
      if (in_service()) become(DeviceState::starting, reason, now);
      if (state_ == DeviceState::draining && serves(before_drain_)) before_drain_ = DeviceState::starting;
      break;
    case HealthEvent::lost: become(DeviceState::lost, reason, now); break;
    case HealthEvent::quarantine: become(DeviceState::quarantined, reason, now); break;
    case HealthEvent::returned:
      if (gone) become(DeviceState::probing, reason, now);
      if (gone && drain_requested_) drain("an operator's request, from before it was gone", now);
      break;
    case HealthEvent::drain:
      drain_requested_ = true;
      if (!gone && state_ != DeviceState::draining) drain(reason, now);
      break;
    case HealthEvent::resume:
      drain_requested_ = false;
      if (state_ == DeviceState::draining) {
        become(before_drain_, reason, now);
        reason_.clear();  // the request is over, and the state is what it was
      }
      if (state_ == DeviceState::quarantined) become(DeviceState::probing, reason, now);
      break;
  }
}

void DeviceHealth::drain(const std::string& reason, Seconds now) {
  before_drain_ = in_service() || state_ == DeviceState::starting ? state_ : DeviceState::probing;
  become(DeviceState::draining, reason, now);
}

void DeviceHealth::succeeded(bool canary, Seconds now) {
  in_a_row_ = 0;
  well_at_ = now;
  recent_.push_back(false);
  if (static_cast<int>(recent_.size()) > options_.of_last) recent_.pop_front();
  if (state_ == DeviceState::suspect) become(DeviceState::healthy, "a piece succeeded", now);
  if (state_ == DeviceState::probing && canary && ++canaries_passed_ >= options_.canaries) {
    recent_.clear();
    become(DeviceState::warming, "the canary clip succeeded", now);
  } else if (state_ == DeviceState::warming && !canary && ++warm_successes_ >= 2 * options_.warm_up_successes) {
    openings_ = 0;
    become(DeviceState::healthy, "warmed up", now);
  }
}

bool DeviceHealth::too_many_failures() const {
  if (in_a_row_ >= options_.failures_in_a_row) return true;
  const auto failed = std::count(recent_.begin(), recent_.end(), true);
  return static_cast<int>(recent_.size()) >= options_.of_last && 2 * failed > options_.of_last;
}

void DeviceHealth::open(const std::string& reason, bool last_in_service, Seconds now) {
  ++openings_;
  recent_.clear();
  in_a_row_ = 0;
  if (openings_ >= options_.quarantine_after && !last_in_service)
    return become(DeviceState::quarantined, "failed again and again: " + reason, now);
  if (last_in_service && openings_ == 1)
    return become(DeviceState::probing, reason + "; no other device is in service, so it is probed at once", now);
  open_until_ = now + std::min(options_.back_off * openings_, options_.longest_back_off);
  become(DeviceState::open, reason, now);
}

void DeviceHealth::failed(const std::string& reason, bool canary, bool last_in_service, Seconds now) {
  well_at_.reset();
  has_failed_ = true;
  if (state_ == DeviceState::probing && canary) return open("the canary clip failed: " + reason, last_in_service, now);
  ++in_a_row_;
  recent_.push_back(true);
  if (static_cast<int>(recent_.size()) > options_.of_last) recent_.pop_front();
  if (state_ == DeviceState::warming || (in_service() && too_many_failures()))
    open(reason, last_in_service, now);
  else if (state_ == DeviceState::healthy)
    become(DeviceState::suspect, reason, now);
}

void DeviceHealth::forgive(int count, Seconds now) {
  in_a_row_ = std::max(0, in_a_row_ - count);
  for (auto it = recent_.rbegin(); it != recent_.rend() && count > 0; ++it)
    if (*it) {
      *it = false;
      --count;
    }
  if (state_ == DeviceState::suspect && in_a_row_ == 0) become(DeviceState::healthy, "it was a job's fault", now);
  if (state_ != DeviceState::open) return;
  openings_ = std::max(0, openings_ - 1);
  become(DeviceState::probing, "it was a job's fault", now);
}

void DeviceHealth::advance(Seconds now) {
  if (state_ == DeviceState::open && now >= open_until_) become(DeviceState::probing, "the back-off is over", now);
}

}  // namespace tutti
