#pragma once

#include <deque>
#include <utility>

#include "base/guarded.h"
#include "base/owned.h"
#include "link/messages.h"

namespace tutti {

/// A message and the descriptor that came beside it.
struct Letter {
  ToWorker message{};
  OwnedFd memory{};
};

/// Letters on their way from the thread that reads the socket to the one that computes. Not bounded: the control side
/// counts its windows in flight.
class Inbox {
 public:
  void put(Letter letter) {
    box_.change([&](Box& box) { box.letters.push_back(std::move(letter)); });
  }
  /// No more will come.
  void close() {
    box_.change([](Box& box) { box.closed = true; });
  }

  struct Post {
    std::deque<Letter> letters{};
    bool closed = false;  // after these
  };
  /// Everything that has arrived; waits for something first if `wait`.
  Post take(bool wait) {
    const auto ready = [&](const Box& box) { return !wait || box.closed || !box.letters.empty(); };
    return box_.wait(ready, [](Box& box) { return Post{std::exchange(box.letters, {}), box.closed}; });
  }

 private:
  struct Box {
    std::deque<Letter> letters{};
    bool closed = false;
  };
  Guarded<Box> box_;
};

}  // namespace tutti
