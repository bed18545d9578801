#pragma once

#include <condition_variable>
#include <mutex>

namespace tutti {

/// Threads asleep on one condition, counted, so that waking costs nothing when none sleeps and at most one system call
/// per sleeper otherwise. All calls but the two notifies need the lock that the sleepers wait with.
///
/// `called_` never exceeds the number of threads that are awake but not yet back under the lock, so a skipped call
/// always leaves a thread on the way that will look at the condition again.
class Sleepers {
 public:
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
    while (!ready()) {
      ++asleep_;
      changed_.wait(lock);
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

}  // namespace tutti
