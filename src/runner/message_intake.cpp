#include "runner/message_intake.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr Seconds kPauseAfterError{5};

}  // namespace

MessageIntake::Waiting MessageIntake::take_most_urgent() {
  // Of these the longest, so that the end is not one long job.
  const auto first = std::ranges::max_element(waiting_, {}, [](const Waiting& waiting) {
    return std::tuple(pool_priority(waiting.message), waiting.message.estimated_duration_seconds);
  });
  Waiting waiting = std::move(*first);
  waiting_.erase(first);
  return waiting;
}

/// Waits for messages only where none is held.
void MessageIntake::receive() {
  const int most = parts_.options.prefetch - static_cast<int>(waiting_.size());
  if (most <= 0) return;
  std::int64_t wait = waiting_.empty() ? parts_.queue.wait_seconds : 0;
  const auto numbers = parts_.tally.now();
  if (numbers.in_work == 0) {
    const auto left = idle_.left(Clock::real().now(), numbers.last_end);
    wait = std::min(wait, std::max<std::int64_t>(1, static_cast<std::int64_t>(left.count())));
  }
  const auto received = parts_.polls.with_sqs(
      [&](SqsClient& sqs) { return sqs.receive(parts_.options.queue, most, wait, parts_.options.visibility); });
  if (!received) {
    if (received.error().fault == Fault::cancelled) return;
    log(Level::error, "Error in worker loop: " + received.error().text());
    if (parts_.is_account_refused(received.error()))
      return parts_.tally.end(RunnerTally::Over::failed, received.error());
    return parts_.tally.await_over(kPauseAfterError);
  }
  if (!received->empty()) log(Level::info, "Received " + std::to_string(received->size()) + " message(s) from queue");
  for (const ReceivedMessage& message : *received) take_in(message);
}

/// What is no job goes to the dead letters at once.
void MessageIntake::take_in(const ReceivedMessage& received) {
  idle_.busy();
  const auto token = parts_.held.hold(received);
  auto message = read_message(received.body);
  if (!message) {
    log(Level::error, "message " + received.id + ": " + message.error().text() + ". It goes to the dead letters");
    parts_.held.bury(token, {{"failure_reason", message.error().text().substr(0, RunnerParts::kMostOfReason)},
                             {"worker_id", parts_.options.worker_id}});
    return parts_.tally.change([](RunnerTally::Numbers& numbers) { ++numbers.failed; });
  }
  message->retry_count = std::max(message->retry_count, received.receives - 1);
  parts_.tally.change([&](RunnerTally::Numbers& numbers) {
    ++numbers.received;
    numbers.estimated += Seconds(message->estimated_duration_seconds);
  });
  waiting_.push_back({token, received.receives, std::move(*message)});
}

/// Nothing was received. Where the time is over, the queue's own count decides.
bool MessageIntake::is_idle() {
  const auto numbers = parts_.tally.now();
  const auto now = Clock::real().now();
  if (numbers.in_work > 0) {
    idle_.busy();
    return false;
  }
  if (idle_.left(now, numbers.last_end) > Seconds(0)) return false;
  const auto facts = parts_.polls.with_sqs([&](SqsClient& sqs) { return sqs.facts(parts_.options.queue); });
  if (!facts) return false;
  if (facts->waiting > 0) {
    idle_.busy();
    return false;
  }
  if (!idle_.found_empty(now, numbers.last_end)) return false;
  log(Level::info,
      "IDLE SHUTDOWN: Worker idle for " + number_text(parts_.options.idle_timeout.count() / 60) + " minutes");
  return true;
}

void MessageIntake::release_all() {
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    parts_.held.release(waiting.token);
    parts_.tally.change([](RunnerTally::Numbers& numbers) { ++numbers.released; });
  }
}

}  // namespace tutti
