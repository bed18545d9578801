#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tutti {

/// Calls `fn` every so often on a thread of its own, until it goes. The first call comes after one interval. A call
/// under way is waited for, so `fn` must not destroy the object; an exception of `fn` ends the process.
class PeriodicThread {
 public:
  PeriodicThread(std::chrono::milliseconds every, std::function<void()> fn)
      : thread_([this, every, fn = std::move(fn)](const std::stop_token& over) {
          std::unique_lock lock(mutex_);
          while (!changed_.wait_for(lock, over, every, [] { return false; }) && !over.stop_requested()) fn();
        }) {}
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace tutti
