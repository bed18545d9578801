#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "link/heartbeat.h"
#include "link/messages.h"

namespace tutti {

/// What a worker must say and do to be served.
struct SessionTerms {
  std::string build_id;     // its build: ours, or as another engine than ours has named itself before
  bool is_other = false;    // another engine: it may not know which device it sees
  std::string device_uuid;  // the device it must see; empty: any, or none
  LoadModel model{};
  Seconds load_limit{600};  // from its start to Ready: a large model from a slow disk
  HeartbeatLimits heartbeat{};
  bool timed = true;  // false under a debugger, which stops it at will
};

/// Whether a fault is one that another start cannot mend: the model is not there, is damaged, is of a kind we do not
/// know.
bool is_permanent(Fault fault);

/// Why a worker process is over.
struct Ending {
  Error error;
  bool final = false;    // another start would end the same way
  bool leaving = false;  // it closed its end by itself: how it exits is evidence worth a moment's wait
  bool unclear = false;  // it went silent, was killed from outside or reports that its device is lost: the machine may
                         // be to blame, not what it worked on
};

/// What a message or the passing of time requires; all may be empty.
struct Reaction {
  std::optional<ToWorker> reply{};
  std::optional<Ending> ending{};
  std::optional<Ready> ready{};              // the model is loaded
  std::optional<ToControl> worker_answer{};  // the answer to a caller's request
};

/// The conversation with one worker from its Hello on: in which order messages may come, what each requires, and when
/// silence has lasted too long. Pure: it sends nothing and reads no clock.
class Session {
 public:
  Session(SessionTerms terms, Clock::Instant started);

  Reaction on_message(ToControl message, Clock::Instant now);
  /// To be called at `wake_at()`, after every received message went to `on_message`.
  Reaction tick(Clock::Instant now);
  Clock::Instant wake_at() const;

  /// Set once the model is loaded.
  const std::optional<Ready>& ready() const { return ready_; }

 private:
  enum class Phase { greeting, loading, serving };

  Reaction on_hello(const Hello& hello);
  Reaction loaded(const Ready& ready, Clock::Instant now);
  Reaction failed(const Failed& failed);
  Reaction unexpected(const ToControl& message) const;

  SessionTerms terms_;
  Clock::Instant load_until_;
  Phase phase_ = Phase::greeting;
  std::optional<Ready> ready_;
  std::optional<Heartbeat> heartbeat_;
};

}  // namespace tutti
