#pragma once

#include <cstddef>
#include <memory>
#include <set>

#include "base/guarded.h"

namespace tutti {

/// A client that streams live audio, as the end of the server sees it.
class LiveClient {
 public:
  virtual ~LiveClient() = default;
  /// Ends it once the text of what has come is final. From any thread, briefly.
  virtual void finish() = 0;
};

/// The clients that stream live audio, and how many may. Thread-safe.
class LiveSessions {
 public:
  explicit LiveSessions(std::size_t most) : most_(most) {}

  /// Counts one client as long as it exists; null: there are as many already.
  std::shared_ptr<void> admit() {
    const bool is_admitted = now_.with([this](Now& now) {
      if (now.taken >= most_) return false;
      ++now.taken;
      return true;
    });
    if (!is_admitted) return nullptr;
    return {this, [](LiveSessions* all) { all->now_.with([](Now& now) { --now.taken; }); }};
  }
  void enter(LiveClient& client) {
    const bool ends = now_.with([&](Now& now) {
      now.clients.insert(&client);
      return now.ends;
    });
    if (ends) client.finish();
  }
  void leave(LiveClient& client) {
    now_.with([&](Now& now) { now.clients.erase(&client); });
  }
  /// Ends all of them, and those that still come.
  void finish() {
    now_.with([](Now& now) {
      now.ends = true;
      for (LiveClient* client : now.clients) client->finish();
    });
  }

  std::size_t taken() const {
    return now_.with([](const Now& now) { return now.taken; });
  }
  std::size_t most() const { return most_; }

 private:
  struct Now {
    std::size_t taken = 0;
    std::set<LiveClient*> clients{};
    bool ends = false;
  };
  const std::size_t most_;
  Guarded<Now> now_{};
};

}  // namespace tutti
