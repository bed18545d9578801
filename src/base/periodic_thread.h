#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tutti {

/// Waits for `time`. False, and soon: the thread is to stop.
template <class Duration>
bool wait_unless_stopped(const std::stop_token& stop, Duration time) {
  std::mutex mutex;  // guards nothing: only the stop ends this early
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  return !never.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
}

/// Calls `fn` every so often on a thread of its own, until it goes. The first call comes after one interval. A call
/// under way is waited for, so `fn` must not destroy the object; an exception of `fn` ends the process.
class PeriodicThread {
 public:
  PeriodicThread(std::chrono::milliseconds every, std::function<void()> fn)
      : thread_([this, every, fn = std::move(fn)](const std::stop_token& over) {
          while (wait_unless_stopped(over, every)) fn();
        }) {}
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace tutti
