#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "jobs/task.h"

namespace tutti {

/// In which order a batch's tasks are taken up: the longest first, unless the policy goes by arrival. Pure; not
/// thread-safe.
class WorkOrder {
 public:
  explicit WorkOrder(bool by_arrival) : by_arrival_(by_arrival) {}

  void add(TaskId task, Seconds audio) {
    ready_.insert({by_arrival_ ? 0.0 : -audio.count(), arrivals_, task});
    ++arrivals_;
  }
  /// Not before that moment.
  void add_later(TaskId task, Seconds audio, Clock::Instant when) { later_.insert({when, {task, audio}}); }

  /// The first one whose time has come.
  std::optional<TaskId> take(Clock::Instant now) {
    while (!later_.empty() && later_.begin()->first <= now) {
      add(later_.begin()->second.first, later_.begin()->second.second);
      later_.erase(later_.begin());
    }
    if (ready_.empty()) return {};
    return ready_.extract(ready_.begin()).value().task;
  }
  /// When `take` may yield something although nothing was added; at once while something is ready.
  std::optional<Clock::Instant> wake_at(Clock::Instant now) const {
    if (!ready_.empty()) return now;
    if (later_.empty()) return {};
    return later_.begin()->first;
  }
  std::size_t size() const { return ready_.size() + later_.size(); }

 private:
  struct Rank {
    double rank = 0;
    std::uint64_t arrival = 0;
    TaskId task = 0;
    auto operator<=>(const Rank&) const = default;
  };
  bool by_arrival_;
  std::uint64_t arrivals_ = 0;
  std::set<Rank> ready_;
  std::multimap<Clock::Instant, std::pair<TaskId, Seconds>> later_;
};

}  // namespace tutti
