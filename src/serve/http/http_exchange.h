#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "serve/http/http.h"

namespace tutti {

/// A length of time as timers take it.
inline std::chrono::steady_clock::duration duration_of(Seconds seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
}

/// What a connection and the threads that answer its request share: pieces go in on one side and out on the other, and
/// each that goes in wakes the network. Thread-safe.
class ConnectionExchange final : public HttpExchange {
 public:
  /// `most`: bytes that may wait for the client. `wake`: called from any thread, briefly, when something is to be sent;
  /// never after `detach` has returned.
  ConnectionExchange(HttpHead head, std::size_t most, std::function<void()> wake)
      : head_(std::move(head)), most_(most), wake_(std::move(wake)) {}

  const HttpHead& head() const override { return head_; }
  void answer(HttpAnswer answer) override { begin(std::move(answer), /*streams=*/false); }
  void begin_stream(HttpAnswer head) override { begin(std::move(head), /*streams=*/true); }
  bool send(std::string_view piece) override;
  void end_stream() override;
  void beat_after(Seconds wait, HttpAnswer head, std::string beat) override;
  void on_gone(std::function<void()> gone) override;

  // --- the network's side

  struct Next {
    std::optional<HttpAnswer> head{};  // to be sent first
    std::string piece{};
    bool streams = false;
    bool ended = false;
    bool cut = false;  // the last piece is no part of what the status promised
    bool gone = false;

    bool nothing() const { return !head && piece.empty() && !ended && !gone; }
  };

  /// Takes what is to be sent now.
  Next next();
  /// How long to wait for an answer before `begin_beats`; none: as long as it takes.
  std::optional<std::chrono::steady_clock::duration> until_beats() const;
  /// Begins the answer that beats, where it is due and there is none.
  void begin_beats();
  /// What keeps a stream that has nothing to send alive; empty: nothing does.
  std::string beat() const;
  /// The answer is sent; no call follows.
  void complete();
  /// The client has left before that.
  void client_left();
  /// The connection goes on without it, or goes: who still has the exchange must not need the network any more.
  void detach();

 private:
  void begin(HttpAnswer head, bool streams);
  void wake();

  const HttpHead head_;
  const std::size_t most_;
  mutable Mutex mutex_;
  std::function<void()> wake_ TUTTI_GUARDED_BY(mutex_);  // none: detached
  std::optional<HttpAnswer> answer_ TUTTI_GUARDED_BY(mutex_){};
  struct Beats {
    std::chrono::steady_clock::time_point due{};
    HttpAnswer head{};
    std::string beat{};
    bool begun = false;
    bool of_events() const { return head.type.starts_with("text/event-stream"); }
  };
  std::optional<Beats> beats_ TUTTI_GUARDED_BY(mutex_){};
  std::string pending_ TUTTI_GUARDED_BY(mutex_){};
  std::function<void()> on_gone_ TUTTI_GUARDED_BY(mutex_){};
  bool streams_ TUTTI_GUARDED_BY(mutex_) = false;
  bool head_sent_ TUTTI_GUARDED_BY(mutex_) = false;
  bool ended_ TUTTI_GUARDED_BY(mutex_) = false;
  bool cut_ TUTTI_GUARDED_BY(mutex_) = false;
  bool gone_ TUTTI_GUARDED_BY(mutex_) = false;
  bool complete_ TUTTI_GUARDED_BY(mutex_) = false;
};

}  // namespace tutti
