#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "balance/dispatcher.h"
#include "balance/turn.h"
#include "balance/types.h"

namespace tutti {

/// Pieces of a task that can start, all alike.
struct ReadyPieces {
  Seconds audio{};  // each
  std::int64_t count = 0;
  bool risky = false;  // in flight when a worker was lost: runs alone, so that it is clear whose fault the next loss is
  std::vector<DeviceIndex> took_down{};  // devices it may be to blame for, as long as they are well without it
};

/// A task and how far it is.
struct QueuedTask {
  TaskKey id = 0;
  TaskFacts facts{};
  std::uint64_t arrival = 0;              // counts tasks as they are added
  std::optional<DeviceIndex> dealt_to{};  // round robin
  std::vector<ReadyPieces> ready{};       // the next one in front
  Seconds ready_audio{};
  Seconds placed{};  // audio in flight or done
  int in_flight = 0;
  bool started = false;
  bool ended = false;
  int exhausted = 0;                    // devices were out of memory for it
  std::vector<DeviceIndex> avoid{};     // devices whose worker was lost with it
  std::vector<std::string> evidence{};  // what was said about every failure
  Seconds counted{};                    // its part of TaskQueue::audio_unplaced: what is neither in flight nor done
  double counted_pieces = 0;            // and the pieces that makes
  Seconds believed{};                   // its length when it was added
  std::optional<Seconds> found{};       // its length as found since

  bool risky() const { return !ready.empty() && ready.front().risky; }
  bool avoids(DeviceIndex device) const { return std::find(avoid.begin(), avoid.end(), device) != avoid.end(); }
};

/// Tasks that can run on the same devices and are of the same rank: one order among them decides.
struct TaskGroup {
  struct Entry {
    double first = 0;   // by this, least first …
    double second = 0;  // … then this, then the id
    TaskKey task = 0;
    auto operator<=>(const Entry&) const = default;
  };
  std::set<Entry> started{};  // in work, with pieces ready: they come first
  std::set<Entry> fresh{};    // with pieces ready, not begun; a batch's are ordered by minus their audio
};

/// What makes a group. Ordered so that what comes first is served first.
struct GroupKey {
  std::int64_t rank = 0;  // Turn::rank; it never changes
  TaskClass kind{};
  bool whole = false;
  std::int64_t dealt_to = -1;
  auto operator<=>(const GroupKey&) const = default;
};

/// All tasks, with the ones that can start now in the order in which they should. Every operation costs the logarithm
/// of the number of tasks.
class TaskQueue {
 public:
  explicit TaskQueue(const DispatcherOptions& options) : options_(options) {}

  void add(TaskKey id, TaskFacts facts, std::optional<DeviceIndex> dealt_to);
  QueuedTask* find(TaskKey id);
  void correct_length(TaskKey id, Seconds audio);
  void offer(TaskKey id, ReadyPieces pieces);
  /// A piece that was placed comes back, in front of the others.
  void put_back(TaskKey id, ReadyPieces piece);
  void withdraw(TaskKey id);
  void end(TaskKey id);
  /// What was lost on this device is no task's fault.
  void absolve(DeviceIndex device);
  /// Its attempt is over and it is not: as if nothing of it had begun. Not while something of it is in flight.
  void rest(TaskKey id);

  /// Takes the next piece of a task that has one, as placed on a device.
  ReadyPieces take(TaskKey id);
  /// A placed piece is done. Pieces of tasks that have ended land like others.
  void landed(TaskKey id);

  const std::map<GroupKey, TaskGroup>& groups() const { return groups_; }
  /// Tasks whose next piece has to run alone; they are in no group.
  const std::set<TaskKey>& risky() const { return risky_; }
  const QueuedTask& at(TaskKey id) const { return tasks_.at(id); }
  bool anything_ready() const { return !groups_.empty() || !risky_.empty(); }
  /// Audio that is neither in flight nor done, in seconds; what is not known is taken for the mean of what is.
  double audio_unplaced() const { return std::max(0.0, known_) + std::max(0.0, believed_) * found_share(); }
  /// Of a mean piece of that; while nothing is left, a window's.
  Seconds piece_unplaced() const;
  /// Of that, what cannot start yet.
  double audio_unready() const { return std::max(0.0, audio_unplaced() - ready_); }
  std::size_t in_work() const { return in_work_; }

 private:
  Turn turn(const QueuedTask& task) const;
  GroupKey key_of(const QueuedTask& task) const;
  TaskGroup::Entry entry_of(const QueuedTask& task) const;
  bool listed(const QueuedTask& task) const { return !task.ended && !task.ready.empty(); }
  /// Changes a task, taking it out of its group before and putting it in the right one after.
  template <class How>
  void change(TaskKey id, How&& how);
  void list(const QueuedTask& task);
  void unlist(const QueuedTask& task);
  void forget_when_over(TaskKey id);
  void count(QueuedTask& task);
  void start(QueuedTask& task);
  Seconds assumed(const QueuedTask& task) const;
  /// How much of what recordings were said to last was found in them: only their speech may be heard.
  double found_share() const;

  DispatcherOptions options_;
  std::unordered_map<TaskKey, QueuedTask> tasks_{};
  std::map<GroupKey, TaskGroup> groups_{};
  std::set<TaskKey> risky_{};
  std::uint64_t arrivals_ = 0;
  std::size_t in_work_ = 0;
  double known_ = 0;     // unplaced audio of tasks whose length was found
  double believed_ = 0;  // of the others, as long as they are said to be
  double found_of_ = 0, found_ = 0;
  std::size_t finds_ = 0;
  double ready_ = 0;
  double pieces_ = 0;  // of known_ and believed_ together
};

}  // namespace tutti
