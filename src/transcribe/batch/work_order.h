#pragma once

#include <map>
#include <optional>
#include <set>

#include "balance/dispatcher.h"
#include "base/clock.h"
#include "jobs/task.h"

namespace tutti {

/// A task that can be taken up, and what its turn depends on.
struct WaitingTask {
  TaskId task = 0;
  Seconds audio{};
  TaskClass task_class = TaskClass::batch;
  int priority = 0;
};

/// In which order a batch's tasks are taken up. By class, a step of which counts as so many of priority, then within a
/// class: a batch's longest first, so that none is left for the end; normal ones as they came; of interactive ones the
/// shortest. All of that unless the policy goes by arrival. Pure; not thread-safe.
class WorkOrder {
 public:
  explicit WorkOrder(bool by_arrival) : by_arrival_(by_arrival) {}

  void add(const WaitingTask& task) {
    ready_.insert(rank_of(task));
    ++arrivals_;
  }
  /// Not before that moment.
  void add_later(const WaitingTask& task, Clock::Instant when) { later_.insert({when, task}); }

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
  struct Rank {
    int before = 0;  // minus class and priority
    double within = 0;
    std::uint64_t arrival = 0;
    TaskId task = 0;
    auto operator<=>(const Rank&) const = default;
  };

  Rank rank_of(const WaitingTask& task) const {
    Rank rank{.arrival = arrivals_, .task = task.task};
    if (by_arrival_) return rank;
    const int step = DispatcherOptions{}.class_step;
    switch (task.task_class) {
      case TaskClass::interactive:
        rank.before = -2 * step;
        rank.within = task.audio.count();
        break;
      case TaskClass::normal: rank.before = -step; break;
      case TaskClass::batch: rank.within = -task.audio.count(); break;
    }
    rank.before -= task.priority;
    return rank;
  }

  bool by_arrival_;
  std::uint64_t arrivals_ = 0;
  std::set<Rank> ready_;
  std::multimap<Clock::Instant, WaitingTask> later_;
};

}  // namespace tutti
