#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "link/messages.h"

namespace tutti {

struct HeartbeatLimits {
  Seconds interval{0.25};  // between a pong and the next ping
  Seconds silence{1.0};    // without a pong, after which the peer is taken for hung
};

/// Decides when to ping a peer, and when it has been silent too long. Pure: time comes in.
///
/// Everything the peer has sent must be received before `silent` is called: after we ourselves were stopped (Ctrl+Z),
/// its answer is unread in the socket. For the same reason a ping must have been out for half the time.
class Heartbeat {
 public:
  using Instant = Clock::Instant;

  Heartbeat(HeartbeatLimits limits, Instant now) : limits_(limits), last_message_(now), last_ping_(now) {}

  /// The ping to send now, if one is due. At most one is out at a time.
  std::optional<Ping> due(Instant now) {
    if (waiting_ || now < last_ping_ + whole(limits_.interval)) return {};
    waiting_ = true;
    last_ping_ = now;
    return Ping{++sequence_};
  }

  /// False: this pong answers no open ping.
  bool pong(const Pong& answer, Instant now) {
    if (!waiting_ || answer.sequence != sequence_) return false;
    waiting_ = false;
    last_message_ = now;
    return true;
  }

  bool silent(Instant now) const { return waiting_ && now >= silent_at(); }

  /// When `due` or `silent` may change.
  Instant wake_at() const { return waiting_ ? silent_at() : last_ping_ + whole(limits_.interval); }

 private:
  static Clock::Instant::duration whole(Seconds time) {
    return std::chrono::duration_cast<Clock::Instant::duration>(time);
  }
  Instant silent_at() const {
    return std::max(last_message_ + whole(limits_.silence), last_ping_ + whole(limits_.silence / 2));
  }

  HeartbeatLimits limits_;
  Instant last_message_;
  Instant last_ping_;
  std::uint64_t sequence_ = 0;
  bool waiting_ = false;
};

}  // namespace tutti
