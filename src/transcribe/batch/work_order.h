#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>

#include "balance/turn.h"
#include "base/clock.h"
#include "jobs/task.h"
#include "transcribe/pool/pool_task.h"

namespace tutti {

/// In which order a batch's tasks are taken up: by the turns that their windows have on the devices (balance/turn.h).
/// Pure; not thread-safe.
class WorkOrder {
 public:
  explicit WorkOrder(Policy policy) : options_{.policy = policy} {}

  void add(const PoolTask& task) {
    const auto id = static_cast<TaskId>(task.id);
    ready_.insert({turn_of(task.facts(), task.audio, arrivals_, options_), arrivals_, id});
    ++arrivals_;
  }
  /// Before all others: there is nothing to be done but to say so.
  void add_first(TaskId task) {
    ready_.insert(Place{{.rank = std::numeric_limits<std::int64_t>::min()}, arrivals_++, task});
  }
  /// Not before that moment.
  void add_later(const PoolTask& task, Clock::Instant when) { later_.insert({when, task}); }

  /// The first one whose time has come.
  std::optional<TaskId> take(Clock::Instant now) {
    while (!later_.empty() && later_.begin()->first <= now) {
      add(later_.begin()->second);
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
  struct Place {
    Turn turn{};
    std::uint64_t arrival = 0;
    TaskId task = 0;
    auto operator<=>(const Place&) const = default;
  };

  DispatcherOptions options_;
  std::uint64_t arrivals_ = 0;
  std::set<Place> ready_;
  std::multimap<Clock::Instant, PoolTask> later_;
};

}  // namespace tutti
