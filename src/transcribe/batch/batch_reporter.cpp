#include "transcribe/batch/batch_reporter.h"

#include <algorithm>

#include "base/log.h"

namespace tutti {
namespace {

constexpr std::size_t kFailuresShown = 50;

BatchEnd end_of(const BatchAttempt& attempt, const std::string& device) {
  return {.name = attempt.job->spec.name,
          .device = device,
          .audio = attempt.length,
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
  const BatchWork work = queue_.take_new_work();
  const Lock reporting(reporting_);
  observer_.on_accepted(work);
}

bool BatchReporter::may_begin() {
  const Lock reporting(reporting_);
  return !queue_.is_over();
}

void BatchReporter::started() {
  const Lock reporting(reporting_, std::try_to_lock);
  if (reporting) report_starts(reporting);
}

void BatchReporter::report_starts(const Lock&) {
  for (FirstGrant& first : pool_.first_grants())
    if (const auto start = start_of(std::move(first))) observer_.on_start(*start);
}

/// A recording that ends without a device has started all the same.
void BatchReporter::report_starts_before_end(const Lock& reporting, JobId id) {
  report_starts(reporting);
  const BatchState::Lock lock(state_.mutex);
  number_of(state_.tally, state_.entries.at(id));
}

/// None: this run has not claimed it. An attempt that has ended meanwhile has started all the same.
std::optional<BatchStart> BatchReporter::start_of(FirstGrant first) {
  const auto id = static_cast<JobId>(first.job);
  const BatchState::Lock lock(state_.mutex);
  const auto at = std::find_if(state_.attempts.rbegin(), state_.attempts.rend(),
                               [&](const BatchAttempt& attempt) { return attempt.lease.key.job == id; });
  if (at == state_.attempts.rend()) return {};
  const BatchAttempt& attempt = *at;
  const auto chosen = std::ranges::find(options_.devices, first.device, &ChosenDevice::id);
  return BatchStart{.number = number_of(state_.tally, state_.entries.at(id)),
                    .total = state_.tally.to_do + state_.tally.to_come,
                    .name = attempt.job->spec.name,
                    .uuid = attempt.job->spec.uuid,
                    .worker = attempt.worker,
                    .device = chosen == options_.devices.end() ? first.device : chosen->label,
                    .attempt = attempt.lease.attempt,
                    .before = std::move(first.before)};
}

BatchCounts BatchReporter::counts() const {
  const BatchState::Lock lock(state_.mutex);
  BatchCounts counts = state_.tally.counts;
  counts.total += state_.tally.to_come;
  return counts;
}

void BatchReporter::done(const BatchAttempt& attempt, AttemptResult result) {
  BatchEnd over = end_of(attempt, result.use.device);
  {
    const BatchState::Lock lock(state_.mutex);
    BatchEntry& entry = state_.entry(attempt);
    if (!result.copied) entry.use = result.use;
    if (!result.copied) over.audio = entry.requested;
    entry.kept_files = result.kept_files;
    state_.tally.count_done(entry);
  }
  over.copied = result.copied;
  over.kept_files = std::move(result.kept_files);
  over.busy = result.use.busy;
  const Lock reporting(reporting_);  // counted and reported in one step: no count is reported twice, and none left out
  report_starts_before_end(reporting, attempt.lease.key.job);
  queue_.end(attempt.lease.key.job, &BatchCounts::done);
  observer_.on_done(over, counts());
}

void BatchReporter::retried(const BatchAttempt& attempt, const Error& error, const std::string& device, Seconds wait) {
  {
    const BatchState::Lock lock(state_.mutex);
    state_.tally.done.has_retried = true;
  }
  const Lock reporting(reporting_);
  report_starts(reporting);
  observer_.on_retry(end_of(attempt, device), error.text(), wait);
}

/// Under reporting_.
BatchObserver::Action BatchReporter::request_decision(const BatchEnd& over, const Error& error) {
  BatchCounts expected = counts();
  ++expected.failed;
  queue_.set_awaiting_answer(true);
  const auto action = observer_.on_failed(over, error, expected);
  if (action == BatchObserver::Action::stop) queue_.stop_taking();  // before a thread that waits here begins the next
  queue_.set_awaiting_answer(false);
  return action;
}

void BatchReporter::failed(const BatchAttempt& attempt, const Error& error, const std::string& device) {
  const JobId id = attempt.lease.key.job;
  const BatchEnd over = end_of(attempt, device);
  Lock reporting(reporting_);
  report_starts_before_end(reporting, id);
  const auto action = request_decision(over, error);
  if (action == BatchObserver::Action::retry) {
    reporting.unlock();
    const auto queued = admin_.retry({.ids = {id}});
    if (queued && *queued > 0) return queue_.again(id, Seconds(0));
    log(Level::warning, attempt.job->spec.name + ": nothing is to be done again; the next run goes on with it");
  }
  {
    const BatchState::Lock lock(state_.mutex);
    state_.failures.push_front({.name = over.name,
                                .error = error.text(),
                                .device = over.device,
                                .attempts = static_cast<std::size_t>(over.attempts)});
    if (state_.failures.size() > kFailuresShown) state_.failures.pop_back();
  }
  queue_.end(id, &BatchCounts::failed);
}

}  // namespace tutti
