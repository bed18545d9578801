#pragma once

#include <vector>

#include "base/idle_timer.h"
#include "runner/runner_parts.h"

namespace tutti {

/// The messages of a runner that are received and not begun, and when there are no more. For the one thread that takes
/// jobs.
class MessageIntake {
 public:
  /// A message that is held and not begun.
  struct Waiting {
    HeldMessages::Token token = 0;
    int receives = 1;
    JobMessage message{};
  };

  explicit MessageIntake(const RunnerParts& parts) : parts_(parts), idle_(parts.options.idle_timeout) {}

  /// Receives as many as may be held; waits for messages only where none is.
  void receive();
  bool is_empty() const { return waiting_.empty(); }
  /// Of those that are there; not where it is empty.
  Waiting take_most_urgent();
  /// Whether a runner that has received nothing may end.
  bool is_idle();
  void release_all();

 private:
  void take_in(const ReceivedMessage& received);

  const RunnerParts parts_;
  IdleTimer idle_;
  std::vector<Waiting> waiting_{};
};

}  // namespace tutti
