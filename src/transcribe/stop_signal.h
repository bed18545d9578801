#pragma once

#include <functional>

namespace tutti {

/// How a run learns that it is to stop. Once raised, nothing new starts; what is in flight gets a grace, then it is
/// aborted. Thread-safe.
class StopSignal {
 public:
  virtual ~StopSignal() = default;

  virtual bool raised() const = 0;
  /// Called once, from the signal's thread, when it is raised; at once if it has been. An empty function takes it away,
  /// and returns only when no call is under way.
  virtual void on_raise(const std::function<void()>& raise) = 0;
  /// Called once, from the signal's thread, when the grace is over; replaces the one before. Called at once if it is
  /// over already. An empty function takes it away, and returns only when no call is under way.
  virtual void on_abort(const std::function<void()>& abort) = 0;
};

/// Removes what is called on an abort, however its scope is left.
class NoAbortAfter {
 public:
  explicit NoAbortAfter(StopSignal& stop) : stop_(stop) {}
  NoAbortAfter(const NoAbortAfter&) = delete;
  NoAbortAfter& operator=(const NoAbortAfter&) = delete;
  ~NoAbortAfter() { stop_.on_abort({}); }

 private:
  StopSignal& stop_;
};

}  // namespace tutti
