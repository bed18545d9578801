#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace tutti {

/// Ctrl+C and SIGTERM, tamed. Construct one at the start of main, before any thread exists: it blocks both signals and
/// waits for them in a thread of its own. The first signal raises the interrupt: nothing new starts; what is in flight
/// gets `grace`, then `on_abort` is called. A second signal ends the process at once with exit code 130.
class Interrupt {
 public:
  explicit Interrupt(std::chrono::milliseconds grace = std::chrono::milliseconds(600));
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool raised() const;
  /// Called once, from the interrupt's thread, when the first signal comes; at once if it has. An empty function takes
  /// it away, and returns only when no call is under way.
  void on_raise(const std::function<void()>& raise);
  /// Called once, from the interrupt's thread, when the grace is over; replaces the one before. Called at once if it is
  /// over already. An empty function takes it away, and returns only when no call is under way.
  void on_abort(const std::function<void()>& abort);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Removes what is called on an abort, however its scope is left.
class NoAbortAfter {
 public:
  explicit NoAbortAfter(Interrupt& interrupt) : interrupt_(interrupt) {}
  NoAbortAfter(const NoAbortAfter&) = delete;
  NoAbortAfter& operator=(const NoAbortAfter&) = delete;
  ~NoAbortAfter() { interrupt_.on_abort({}); }

 private:
  Interrupt& interrupt_;
};

}  // namespace tutti
