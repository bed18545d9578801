#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/process/child.h"
#include "base/process/received_signals.h"
#include "base/units.h"

namespace tutti {

/// Waits for the end of a profiled child, and hands on to it the SIGINT and SIGTERM that the user sends us meanwhile. A
/// child of our process group has those of the terminal already. After the first one nothing but its end is waited for:
/// a checkpoint takes as long as it takes. A second one ends it within five seconds. One thread.
class ChildWatch {
 public:
  using Send = std::function<void(int signal)>;

  /// `shares_group`: the child is of our process group. `send` signals it and what it has started.
  ChildWatch(const Child& child, const ReceivedSignals& signals, bool shares_group, Send send)
      : child_(child), signals_(signals), shares_group_(shares_group), send_(std::move(send)) {}

  /// Whether it ends within that time; without a bound once the user has interrupted.
  bool ended_within(Seconds time);

  /// Whether the user has interrupted. `code`: the exit code of the child that has ended: it may have gone by a signal
  /// of the terminal before that was here.
  bool was_interrupted(int code);

  void send(int signal) const { send_(signal); }

 private:
  void take();

  const Child& child_;
  const ReceivedSignals& signals_;
  bool shares_group_;
  Send send_;
  std::optional<Clock::Instant> first_{};   // signal of the user
  std::optional<Clock::Instant> killed_{};  // by then at the latest, after a second one
};

}  // namespace tutti
