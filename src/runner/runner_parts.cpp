#include "runner/runner_parts.h"

#include <chrono>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/try.h"

namespace tutti {

void RunnerParts::report(const RemoteAttempt& attempt, JobPhase phase, std::string message) const {
  const RemoteProgress progress{.job_id = attempt.message.job_id,
                                .worker_id = options.worker_id,
                                .phase = phase,
                                .message = std::move(message),
                                .share = attempt.share(),
                                .elapsed = attempt.elapsed()};
  objects.put(progress_key(progress.job_id), progress_json(progress, std::chrono::system_clock::now()));
}

bool RunnerParts::is_account_refused(const Error& error) const {
  if (error.fault != Fault::refused) return false;
  const auto account = settling.account();
  return !account && account.error().fault == Fault::refused;
}

Result<void> RunnerParts::expect_own_result(const JobMessage& message, const S3Path& output) const {
  constexpr std::int64_t kMostLookedInto = 8 << 20;
  const auto there = TRY(callers.with_s3([&](S3Client& s3) { return s3.head(output); }));
  if (!there || there->size > kMostLookedInto) return {};
  const auto text = callers.with_s3([&](S3Client& s3) { return s3.get(output); });
  if (!text && text.error().fault == Fault::missing) return {};
  if (!text) return tl::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto input = json.is_object() ? json.value("s3_input_path", nlohmann::json()) : nlohmann::json();
  if (input == message.s3_input_path) return {};
  return fail(Fault::unsupported,
              output.text() + ": it is there already, and is not the result of " + message.s3_input_path +
                  (input.is_string() ? " but of " + input.get<std::string>() : std::string()),
              "Nothing was overwritten. Send the job with another output path, or remove that object");
}

void RunnerParts::remove_windows(const RemoteAttempt& attempt) const {
  const auto removed = settling.with_s3([&](S3Client& s3) -> Result<void> {
    const auto kept = TRY(s3.list(options.bucket, segments_prefix(attempt.message.job_id)));
    for (const S3Object& object : kept)
      if (auto gone = s3.remove({options.bucket, object.key}); !gone) return gone;
    return {};
  });
  if (!removed) log(Level::warning, "windows that are not needed any more stay: " + removed.error().text());
}

void RunnerParts::ended(const RemoteAttempt& attempt, const std::function<void(RunnerTally::Numbers&)>& change) const {
  attempts.remove(attempt.index);
  tally.change([&](RunnerTally::Numbers& numbers) {
    --numbers.in_work;
    numbers.last_end = Clock::real().now();
    change(numbers);
  });
}

RunSnapshot RunnerTally::snapshot() const {
  const Numbers numbers = now();
  RunSnapshot snapshot;
  snapshot.counts = {
      .total = numbers.done + numbers.failed + numbers.in_work, .done = numbers.done, .failed = numbers.failed};
  snapshot.done = {.recordings = numbers.done,
                   .without_speech = numbers.without_speech,
                   .audio = numbers.audio,
                   .requested = numbers.audio,
                   .transcribed = numbers.transcribed,
                   .has_retried = numbers.retried > 0};
  snapshot.progress = {.done = numbers.audio, .total = std::nullopt, .all_known = false};
  snapshot.running = numbers.in_work;
  snapshot.failures.assign(numbers.failures.begin(), numbers.failures.end());
  return snapshot;
}

}  // namespace tutti
