#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/mutex.h"
#include "flow/queue_limits.h"

namespace tutti {

/// Watches `happened` for about a microsecond: at full speed the other side of a hand-off is a moment away, and a sleep
/// with its wake-up costs several. It must not be longer, and must not yield: on a machine busy with other work a yield
/// gives away a whole time slice, while a sleeper is put back at once.
template <class Happened>
bool spin_until(Happened happened) {
  for (int i = 0; i < 64; ++i) {
    if (happened()) return true;
    __builtin_ia32_pause();
  }
  return false;
}

/// Locks a mutex whose holders are always brief: a sleep would outlast them. Unchecked: it is tried in a callback.
inline void lock_soon(Mutex& mutex) TUTTI_ACQUIRES(mutex) TUTTI_UNCHECKED_LOCKING {
  if (!spin_until([&]() TUTTI_UNCHECKED_LOCKING { return mutex.try_lock(); })) mutex.lock();
}

/// Threads asleep on one condition, counted, so that waking costs nothing when none sleeps and at most one system call
/// per sleeper otherwise. All calls but the two notifies need the lock that the sleepers wait with.
///
/// `called_` never exceeds the number of threads that are awake but not yet back under the lock, so a skipped call
/// always leaves a thread on the way that will look at the condition again.
class Sleepers {
 public:
  /// Unchecked: which mutex `lock` holds, only the caller knows.
  template <class Ready>
  void wait(MutexLock& lock, Ready ready) TUTTI_UNCHECKED_LOCKING {
    while (!ready()) {
      ++asleep_;
      changed_.wait(lock.held());
      --asleep_;
      if (called_ > 0) --called_;
    }
  }

  /// Whether `notify_one` is due, once the lock is released.
  [[nodiscard]] bool call_one() {
    if (called_ >= asleep_) return false;
    ++called_;
    return true;
  }
  /// Whether `notify_all` is due, once the lock is released.
  [[nodiscard]] bool call_all() {
    if (called_ >= asleep_) return false;
    called_ = asleep_;
    return true;
  }

  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
  int asleep_ = 0;
  int called_ = 0;
};

/// Bounded first-in-first-out hand-over between two stages, bounded by items and by bytes. Thread-safe.
///
/// Closing is one-way: writers are refused at once, readers drain what is left. An item larger than the byte bound
/// enters an empty queue alone, so no item is ever stuck. Under a byte bound waiting writers enter in the order they
/// came, so a large item is not overtaken for ever by small ones.
template <class T>
class BoundedQueue : public std::enable_shared_from_this<BoundedQueue<T>> {
  static_assert(std::is_nothrow_move_constructible_v<T>, "an item must not get lost on its way");

 public:
  using SizeOf = std::function<std::size_t(const T&)>;

  /// `size_of`: bytes an item holds, needed with a byte bound. Throws std::invalid_argument for senseless limits.
  explicit BoundedQueue(QueueLimits limits, SizeOf size_of = {}) : limits_(limits), size_of_(std::move(size_of)) {
    if (limits.items == 0) throw std::invalid_argument("a queue needs space for at least one item");
    if (limits.bytes != kUnlimited && !size_of_) throw std::invalid_argument("a byte bound needs a size function");
  }

  /// Waits for space. Returns false, leaving `item` untouched, once the queue is closed.
  [[nodiscard]] bool push(T&& item) {
    const std::size_t size = size_of_ ? size_of_(item) : 0;
    bool wake_reader = false, wake_writers = false;
    {
      lock_soon(mutex_);
      MutexLock lock(mutex_, std::adopt_lock);
      const std::uint64_t ticket = next_ticket_++;
      await(lock, space_available_,
            [&]() TUTTI_REQUIRES(mutex_) { return closed_ || (is_turn_of(ticket) && has_space(size)); });
      if (closed_) return false;
      items_.push_back({std::move(item), size});
      bytes_ += size;
      ++turn_;
      note_change();
      wake_reader = ready_.call_one();
      wake_writers = is_by_bytes() && space_available_.call_all();  // the next in line may fit too
    }
    if (wake_reader) ready_.notify_one();
    if (wake_writers) space_available_.notify_all();
    return true;
  }

  /// Waits for an item. Empty means closed and drained.
  [[nodiscard]] std::optional<T> pop() {
    return pop_unless([] { return false; }, [] {});
  }

  /// Waits for an item, or until `leave()` holds; the thread that makes it hold calls `nudge`. `taken()` runs as the
  /// item leaves the queue: readers that number their items there number them in queue order. Both run under the
  /// queue's lock and must not block. Empty means left, or closed and drained: `is_exhausted` distinguishes them.
  template <class Leave, class Taken>
  [[nodiscard]] std::optional<T> pop_unless(Leave leave, Taken taken) {
    std::optional<T> item;
    bool wake_reader = false, wake_writer = false;
    {
      lock_soon(mutex_);
      MutexLock lock(mutex_, std::adopt_lock);
      await(lock, ready_, [&]() TUTTI_REQUIRES(mutex_) { return closed_ || !items_.empty() || leave(); });
      if (leave()) {
        // We may have been called for an item that another reader must now fetch.
        wake_reader = !items_.empty() && ready_.call_one();
      } else if (!items_.empty()) {
        taken();
        item.emplace(std::move(items_.front().item));
        bytes_ -= items_.front().size;
        items_.pop_front();
        note_change();
        wake_writer = is_by_bytes() ? space_available_.call_all() : space_available_.call_one();
      }
    }
    if (wake_reader) ready_.notify_one();
    if (wake_writer) is_by_bytes() ? space_available_.notify_all() : space_available_.notify_one();
    return item;
  }

  /// Makes every waiting reader look again at its `leave`.
  void nudge() {
    { const MutexLock lock(mutex_); }  // a reader between its look and its sleep must not miss this
    ready_.notify_all();
  }

  /// No more writing; readers drain. Idempotent. Wakes both sides: a writer waiting for space would never return.
  void close() { shut(nullptr); }

  /// No more writing and nothing left to read: what waited is destroyed, outside the lock.
  void abandon() {
    std::deque<Entry> dropped;
    shut(&dropped);
  }

  /// Closed and drained: nothing will ever come out again.
  bool is_exhausted() const {
    const MutexLock lock(mutex_);
    return closed_ && items_.empty();
  }

  /// From now on so many items may wait, at least one. Where more wait already, they stay, and writers wait for space.
  void set_items(std::size_t items) {
    {
      const MutexLock lock(mutex_);
      limits_.items = std::max<std::size_t>(items, 1);
      note_change();
    }
    space_available_.notify_all();
  }

  QueueLevel level() const {
    const MutexLock lock(mutex_);
    return {items_.size(), bytes_, closed_ ? 0 : static_cast<std::size_t>(next_ticket_ - turn_), limits_};
  }

 private:
  struct Entry {
    T item;
    std::size_t size;
  };

  bool is_by_bytes() const { return limits_.bytes != kUnlimited; }
  bool is_turn_of(std::uint64_t ticket) const TUTTI_REQUIRES(mutex_) { return !is_by_bytes() || ticket == turn_; }
  bool has_space(std::size_t size) const TUTTI_REQUIRES(mutex_) {
    if (items_.empty()) return true;
    return items_.size() < limits_.items && (!is_by_bytes() || bytes_ + size <= limits_.bytes);
  }
  void note_change() TUTTI_REQUIRES(mutex_) {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Unchecked: it releases what `lock` holds, and takes it again.
  template <class Ready>
  void await(MutexLock& lock, Sleepers& sleepers, Ready ready) TUTTI_UNCHECKED_LOCKING {
    if (!ready()) {
      const std::uint32_t seen = changes_.load(std::memory_order_relaxed);
      lock.unlock();
      spin_until([&] { return changes_.load(std::memory_order_relaxed) != seen; });
      if (!spin_until([&] { return lock.held().try_lock(); })) lock.lock();
    }
    sleepers.wait(lock, ready);
  }

  void shut(std::deque<Entry>* dropped) {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
      if (dropped) {
        items_.swap(*dropped);
        bytes_ = 0;
      }
      note_change();
    }
    space_available_.notify_all();
    ready_.notify_all();
  }

  QueueLimits limits_;  // its bytes are fixed
  const SizeOf size_of_;
  mutable Mutex mutex_;
  Sleepers space_available_;
  Sleepers ready_;
  std::deque<Entry> items_ TUTTI_GUARDED_BY(mutex_);
  std::size_t bytes_ TUTTI_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ticket_ TUTTI_GUARDED_BY(mutex_) = 0;
  std::uint64_t turn_ TUTTI_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint32_t> changes_ = 0;  // written under the lock, watched without it
  bool closed_ TUTTI_GUARDED_BY(mutex_) = false;
};

}  // namespace tutti
