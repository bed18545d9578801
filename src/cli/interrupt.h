#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "transcribe/stop_signal.h"

namespace tutti {

/// Ctrl+C and SIGTERM, tamed. Construct one at the start of main, before any thread exists: it blocks both signals and
/// waits for them in a thread of its own. The first signal raises the interrupt: nothing new starts; what is in flight
/// gets `grace`, then `on_abort` is called. A second signal, more than 0.1 s later, ends the process at once with exit
/// code 130.
///
/// Callbacks come from the interrupt's thread. Both signals stay blocked when the interrupt goes: commands make one
/// each and end with it.
class Interrupt final : public StopSignal {
 public:
  explicit Interrupt(std::chrono::milliseconds grace = std::chrono::milliseconds(600));
  ~Interrupt() override;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool raised() const override;
  void on_raise(const std::function<void()>& raise) override;
  void on_abort(const std::function<void()>& abort) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti
