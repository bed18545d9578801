#include "transcribe/batch/batch_reporter.h"

#include <algorithm>

#include "base/log.h"

namespace tutti {
namespace {

BatchEnd end_of(const BatchAttempt& attempt, const std::string& device) {
  return {.name = attempt.job.spec.name,
          .device = device,
          .audio = attempt.length(),
          .worker = attempt.worker,
          .attempts = attempt.lease.attempt};
}

/// A recording counts as started when it gets a device, or when it ends without any.
std::size_t number_of(BatchTally& tally, BatchEntry& entry) {
  if (entry.started == 0) entry.started = ++tally.started;
  return entry.started;
}

}  // namespace

void BatchReporter::accepted() {
  const BatchWork work = parts_.jobs.take_new_work();
  const MutexLock reporting(reporting_);
  observer_.on_accepted(work);
}

bool BatchReporter::may_begin() {
  const MutexLock reporting(reporting_);
  return !parts_.queue.is_over();
}

void BatchReporter::started() {
  if (!reporting_.try_lock()) return;
  const MutexLock reporting(reporting_, std::adopt_lock);
  report_starts();
}

void BatchReporter::report_starts() {
  for (FirstGrant& first : parts_.pool.first_grants())
    if (const auto start = start_of(std::move(first))) observer_.on_start(*start);
}

/// A recording that ends without a device has started all the same.
void BatchReporter::report_starts_before_end(JobId id) {
  report_starts();
  parts_.jobs.with(id, [](BatchEntry& entry, BatchTally& tally) { number_of(tally, entry); });
}

/// None: this run has not claimed it. An attempt that has ended meanwhile has started all the same.
std::optional<BatchStart> BatchReporter::start_of(FirstGrant first) {
  const auto id = static_cast<JobId>(first.job);
  const BatchAttempt* attempt = parts_.attempts.latest_at(id);
  if (!attempt) return {};
  const auto& devices = parts_.options.devices;
  const auto chosen = std::ranges::find(devices, first.device, &ChosenDevice::id);
  BatchStart start{.name = attempt->job.spec.name,
                   .uuid = attempt->job.spec.uuid,
                   .worker = attempt->worker,
                   .device = chosen == devices.end() ? first.device : chosen->label,
                   .attempt = attempt->lease.attempt,
                   .before = std::move(first.before)};
  parts_.jobs.with(id, [&](BatchEntry& entry, BatchTally& tally) {
    start.number = number_of(tally, entry);
    start.total = tally.to_do + tally.to_come;
  });
  return start;
}

void BatchReporter::done(const BatchAttempt& attempt) {
  BatchEnd over = end_of(attempt, "");
  parts_.jobs.with(attempt.id(), [&](const BatchEntry& entry, BatchTally& tally) {
    over.copied = !entry.use;
    over.kept_files = entry.kept_files;
    tally.count_done(entry);
    if (!entry.use) return;
    over.device = entry.use->device;
    over.audio = entry.requested;
    over.busy = entry.use->busy;
  });
  const MutexLock reporting(
      reporting_);  // counted and reported in one step: no count is reported twice, and none left out
  report_starts_before_end(attempt.id());
  parts_.queue.end(attempt.id(), &BatchCounts::done);
  observer_.on_done(over, parts_.jobs.counts());
}

void BatchReporter::retried(const BatchAttempt& attempt, const Error& error, const std::string& device, Seconds wait) {
  parts_.jobs.with(attempt.id(), [](BatchEntry&, BatchTally& tally) { tally.done.has_retried = true; });
  const MutexLock reporting(reporting_);
  report_starts();
  observer_.on_retry(end_of(attempt, device), error.text(), wait);
}

BatchObserver::Action BatchReporter::request_decision(const BatchEnd& over, const Error& error) {
  BatchCounts expected = parts_.jobs.counts();
  ++expected.failed;
  parts_.queue.set_hold(RunHold::awaiting_answer, true);
  const auto action = observer_.on_failed(over, error, expected);
  if (action == BatchObserver::Action::stop)
    parts_.queue.stop_taking();  // before a thread that waits here begins the next
  parts_.queue.set_hold(RunHold::awaiting_answer, false);
  return action;
}

void BatchReporter::failed(const BatchAttempt& attempt, const Error& error, const std::string& device) {
  const JobId id = attempt.id();
  const BatchEnd over = end_of(attempt, device);
  MutexLock reporting(reporting_);
  report_starts_before_end(id);
  const auto action = request_decision(over, error);
  if (action == BatchObserver::Action::retry) {
    reporting.unlock();
    const auto queued = admin_.retry({.ids = {id}});
    if (queued && *queued > 0) return parts_.queue.again(id, Seconds(0));
    log(Level::warning, attempt.job.spec.name + ": nothing is to be done again; the next run goes on with it");
  }
  parts_.queue.end(id, &BatchCounts::failed,
                   JobFailure{.name = over.name,
                              .error = error.text(),
                              .device = over.device,
                              .attempts = static_cast<std::size_t>(over.attempts)});
}

}  // namespace tutti
