#pragma once

#include <deque>
#include <utility>

#include "base/guarded.h"
#include "base/owned.h"
#include "link/messages.h"

namespace tutti {

/// A message and the descriptor that came beside it.
struct IncomingMessage {
  ToWorker message{};
  OwnedFd memory{};
};

/// Messages on their way from the thread that reads the socket to the one that computes. Not bounded: the control side
/// counts its windows in flight.
class Inbox {
 public:
  void put(IncomingMessage incoming) {
    box_.change([&](Box& box) { box.messages.push_back(std::move(incoming)); });
  }
  /// No more will come.
  void close() {
    box_.change([](Box& box) { box.closed = true; });
  }

  struct IncomingMessages {
    std::deque<IncomingMessage> messages{};
    bool closed = false;  // after these
  };
  /// Everything that has arrived; waits for something first if `wait`.
  IncomingMessages take(bool wait) {
    const auto ready = [&](const Box& box) { return !wait || box.closed || !box.messages.empty(); };
    return box_.wait(ready, [](Box& box) { return IncomingMessages{std::exchange(box.messages, {}), box.closed}; });
  }

 private:
  struct Box {
    std::deque<IncomingMessage> messages{};
    bool closed = false;
  };
  Guarded<Box> box_;
};

}  // namespace tutti
