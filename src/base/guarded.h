#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <utility>

#include "base/mutex.h"

namespace tutti {

/// A value that can only be touched while its lock is held. No I/O and no driver call inside `with`.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class Fn>
  decltype(auto) with(Fn&& fn) {
    const MutexLock lock(mutex_);
    return std::invoke(std::forward<Fn>(fn), value_);
  }

  template <class Fn>
  decltype(auto) with(Fn&& fn) const {
    const MutexLock lock(mutex_);
    return std::invoke(std::forward<Fn>(fn), std::as_const(value_));
  }

  /// Changes the value and wakes everyone in `wait`.
  template <class Fn>
  void change(Fn&& fn) {
    {
      const MutexLock lock(mutex_);
      std::invoke(std::forward<Fn>(fn), value_);
    }
    changed_.notify_all();
  }

  /// Blocks until `ready(value)` holds, then runs `fn(value)` under the same lock.
  template <class Ready, class Fn>
  decltype(auto) wait(Ready&& ready, Fn&& fn) {
    MutexLock lock(mutex_);
    changed_.wait(lock.held(), [&]() TUTTI_REQUIRES(mutex_) { return std::invoke(ready, std::as_const(value_)); });
    return std::invoke(std::forward<Fn>(fn), value_);
  }

  /// Blocks until `ready(value)` holds, but no longer than `longest`; returns whether it holds.
  template <class Ready>
  bool wait_for(std::chrono::duration<double> longest, Ready&& ready) {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock.held(), longest,
                             [&]() TUTTI_REQUIRES(mutex_) { return std::invoke(ready, std::as_const(value_)); });
  }

 private:
  mutable Mutex mutex_;
  std::condition_variable changed_;
  T value_ TUTTI_GUARDED_BY(mutex_){};
};

}  // namespace tutti
