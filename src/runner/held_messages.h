#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "base/units.h"
#include "cloud/caller_pool.h"
#include "cloud/queue_url.h"

namespace tutti {

/// The messages that this process has received and not ended: the one way to hold a job of SQS. Thread-safe; has no
/// thread of its own.
///
/// What it guarantees:
/// 1. A held message stays hidden from others as long as `renew` is called in time, up to the 12 hours that SQS allows
///    from a receive.
/// 2. A message ends once, by `done`, `release`, `retry` or `bury`. The first call decides; others do nothing.
/// 3. Only `done` and `bury` delete it, and `bury` only once the dead letters have it.
/// 4. A message that was not renewed in time is lost, and nothing of it but its deletion by `done` is changed any more:
///    another may have received it since, and SQS may take the older receipt all the same.
/// Deleting is no fence: who publishes a result must do so in a way that only one can.
class HeldMessages {
 public:
  using Token = std::uint64_t;

  /// `callers` must work until all messages have ended, also while the run is aborted.
  HeldMessages(CallerPool& callers, QueueUrl queue, QueueUrl dead_letters, std::int64_t visibility_seconds)
      : callers_(callers),
        queue_(std::move(queue)),
        dead_letters_(std::move(dead_letters)),
        visibility_seconds_(visibility_seconds) {}

  /// It was received just now.
  Token hold(const ReceivedMessage& message);
  /// `lost` is called once where another may have received it meanwhile, by the thread that renews, under no lock.
  void when_lost(Token token, std::function<void()> lost);

  /// Hides all of them for the visibility from now on. To be called three times in that time.
  void renew();
  /// Whether it is still this process's: its time may be over, as after a pause of the process.
  bool is_ours(Token token);

  /// Its result is there: it is deleted.
  void done(Token token);
  /// Others may receive it at once.
  void release(Token token) { end_with_visibility(token, Seconds(0)); }
  /// Others may receive it once `wait` is over.
  void retry(Token token, Seconds wait) { end_with_visibility(token, wait); }
  /// It goes to the dead letters, as it is and with these attributes.
  void bury(Token token, const std::map<std::string, std::string>& attributes);
  void release_all();

 private:
  struct Held {
    ReceivedMessage message{};
    Clock::Instant received{};
    Clock::Instant hidden_until{};
    std::function<void()> lost{};

    bool has_ended(Clock::Instant now) const { return now >= hidden_until; }
  };
  using All = std::map<Token, Held>;

  /// Takes it out; none: it has ended.
  std::optional<Held> take(Token token);
  void end_with_visibility(Token token, Seconds wait);
  /// False: it is not this process's any more.
  Result<bool> renew(Token token, const Held& held);
  void lose(Token token);

  CallerPool& callers_;
  const QueueUrl queue_;
  const QueueUrl dead_letters_;
  const std::int64_t visibility_seconds_;
  Guarded<All> held_{};
  Token next_ = 0;  // the receiving thread's
};

}  // namespace tutti
