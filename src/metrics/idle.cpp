#include "metrics/idle.h"

#include <numeric>

namespace tutti {

std::string_view name_of(Idle why) {
  switch (why) {
    case Idle::no_job: return "no_task";
    case Idle::input: return "waiting_for_input";
    case Idle::memory: return "memory";
    case Idle::cap: return "cap";
    case Idle::fault: return "fault";
    case Idle::starting: return "starting";
    case Idle::left_to_faster: return "left_to_faster";
    case Idle::drained: return "drained";
    case Idle::disk_full: return "disk_full";
    case Idle::not_writable: return "not_writable";
    case Idle::stalled: return "waiting_for_stalled";
    case Idle::put_off: return "put_off";
    case Idle::awaiting_answer: return "waiting_for_answer";
  }
  return "no_task";
}

IdleTime::IdleTime(std::initializer_list<std::pair<Idle, Seconds>> parts) {
  for (const auto& [why, time] : parts) (*this)[why] = time;
}

Seconds IdleTime::sum() const {
  return std::accumulate(parts_.begin(), parts_.end(), Seconds(0));
}

std::map<std::string, Seconds> IdleTime::by_name() const {
  std::map<std::string, Seconds> times;
  for (std::size_t why = 0; why < kIdleReasons; ++why)
    if (parts_[why] > Seconds(0)) times[std::string(name_of(static_cast<Idle>(why)))] = parts_[why];
  return times;
}

}  // namespace tutti
