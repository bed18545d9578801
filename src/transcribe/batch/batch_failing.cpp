#include "base/log.h"
#include "base/log_owner.h"
#include "transcribe/batch/batch_files.h"

namespace tutti {

// What becomes of a job whose attempt has failed.

namespace {

constexpr std::size_t kFailuresShown = 50;

/// The file was there when it was added to the batch, or its folder is missing, too. More often a share is away for a
/// while than a recording is deleted.
bool may_come_back(const JobSpec& spec) {
  std::error_code why;
  const std::filesystem::path input = spec.input;
  if (std::filesystem::exists(input, why)) return false;
  return spec.identity != InputIdentity{} || !std::filesystem::exists(input.parent_path(), why);
}

FailureClass failure_class(const Error& error, const JobSpec& spec) {
  // The pool has tried other devices: a fault that is still the device's is the recording's.
  if (error.fault == Fault::device) return FailureClass::permanent;
  if (error.fault == Fault::missing && may_come_back(spec)) return FailureClass::transient;
  return failure_class_of(error);
}

}  // namespace

void BatchFiles::failed(std::size_t index, const Error& error) {
  BatchAttempt& attempt = at(index);
  const LogOwner owner(worker_name(attempt.worker));
  const bool ours = settle(attempt);
  const auto use = attempt.engine ? attempt.engine->use() : JobEngine::Use{};
  attempt.engine.reset();  // whichever thread has settled it: its capacity on a device is free
  if (!ours) return;
  const bool no_device_left = error.fault == Fault::device && pool_.over().has_value();
  if (error.fault == Fault::cancelled || no_device_left) {
    give_back(attempt.lease.key, error.what);
    if (no_device_left) stop_taking();
    return again(attempt.lease.key.job, kLookAgain);
  }
  const Failure failure{failure_class(error, attempt.job->spec), error.text(), {use.device, Seconds(0), use.busy}};
  const auto after = output_space_.retry_until_written({}, [&] { return store_.fail(attempt.lease.key, failure); });
  if (!after) {
    log(Level::error, "the store: " + after.error().text());
    return stop_taking();
  }
  if (!after->held) return again(attempt.lease.key.job, kLookAgain);
  if (after->state == JobState::queued) {
    again(attempt.lease.key.job, after->wait);
    const Lock telling(telling_);
    report_starts(telling);
    return observer_.on_retry(end_of(attempt, use.device), error.text(), after->wait);
  }
  if (after->state == JobState::cancelled) return end(attempt.lease.key.job, &BatchCounts::cancelled);
  tell_failure(attempt, error, use.device);
}

/// Under telling_.
BatchObserver::Action BatchFiles::request_decision(const BatchEnd& over, const Error& error) {
  const auto asking = [&](bool now) {
    const Lock lock(mutex_);
    asking_ = now;
    tell_held_back(lock);
  };
  BatchCounts expected = counts();
  ++expected.failed;
  asking(true);
  const auto action = observer_.on_failed(over, error, expected);
  if (action == BatchObserver::Action::stop) stop_taking();  // before a thread that waits here begins the next one
  asking(false);
  return action;
}

/// `device`: where most of this attempt was done; empty: nothing of it was.
void BatchFiles::tell_failure(BatchAttempt& attempt, const Error& error, const std::string& device) {
  const JobId id = attempt.lease.key.job;
  const BatchEnd over = end_of(attempt, device);
  Lock telling(telling_);
  report_starts_before_end(telling, id);
  const auto action = request_decision(over, error);
  if (action == BatchObserver::Action::retry) {
    telling.unlock();
    const auto queued = store_.retry({.ids = {id}});
    if (queued && *queued > 0) return again(id, Seconds(0));
    log(Level::warning, attempt.job->spec.name + ": nothing is to be done again; the next run goes on with it");
  }
  {
    const Lock lock(mutex_);
    failures_.push_front({.name = over.name,
                          .error = error.text(),
                          .device = over.device,
                          .attempts = static_cast<std::size_t>(over.attempts)});
    if (failures_.size() > kFailuresShown) failures_.pop_back();
  }
  end(id, &BatchCounts::failed);
}

}  // namespace tutti
