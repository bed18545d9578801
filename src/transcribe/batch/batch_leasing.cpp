#include <algorithm>

#include "base/log.h"
#include "transcribe/batch/batch_files.h"

namespace tutti {

// The leases of a batch: how they are kept, lost and released.

/// The attempt is over; another one may be in flight now. False: another thread or process has settled it, and decides
/// what becomes of its job.
bool BatchFiles::settle(BatchAttempt& attempt) {
  const Lock lock(mutex_);
  return settle(lock, attempt);
}

bool BatchFiles::settle(const Lock&, BatchAttempt& attempt) {
  if (attempt.settled.exchange(true)) return false;
  in_flight_.erase(attempt.index);
  changed_.notify_all();
  return true;
}

/// As settle, for a thread that does not work on the attempt. Does nothing while the attempt publishes, because
/// publishing finds out by itself who holds the lease.
bool BatchFiles::take_away(BatchAttempt& attempt) {
  const Lock lock(mutex_);
  if (attempt.publishing || !settle(lock, attempt)) return false;
  if (attempt.engine) attempt.engine->let_go();
  return true;
}

void BatchFiles::renew() {
  std::vector<Renewal> renewals;
  std::vector<BatchAttempt*> renewed;
  {
    const Lock lock(mutex_);
    for (const std::size_t index : in_flight_) {
      BatchAttempt& attempt = attempts_[index];
      const double length = attempt.length.count();
      renewals.push_back({attempt.lease.key, length > 0 ? std::min(1.0, attempt.position / length) : 0});
      renewed.push_back(&attempt);
    }
  }
  const auto standings = store_.renew(renewals);
  if (!standings) return log(Level::warning, "the store: leases could not be renewed: " + standings.error().text());
  for (std::size_t i = 0; i < standings->size(); ++i) {
    BatchAttempt& attempt = *renewed[i];
    if ((*standings)[i] == LeaseStanding::held || !take_away(attempt)) continue;
    const JobId id = attempt.lease.key.job;
    if ((*standings)[i] == LeaseStanding::cancel && is_cancelled(attempt.lease.key))
      end(id, &BatchCounts::cancelled);
    else
      again(id, kLookAgain);
  }
}

/// Records in the store that the job is cancelled. False: the store could not be written to, or another process holds
/// the lease by now.
bool BatchFiles::is_cancelled(const LeaseKey& key) {
  const auto gone = store_.cancelled(key);
  if (!gone) log(Level::error, "the store: " + gone.error().text());
  return gone && *gone;
}

void BatchFiles::reap() {
  renew();  // after a suspend our own leases may have run out without any worker's fault
  if (const auto reaped = store_.reap(); !reaped) log(Level::warning, "the store: " + reaped.error().text());
}

Result<void> BatchFiles::cancel(JobId id) {
  const bool known = [&] {
    const Lock lock(mutex_);
    return entries_.contains(id);
  }();
  const auto changed = known ? store_.cancel({.ids = {id}}) : Result<std::size_t>(0);
  if (!changed) return tl::unexpected(changed.error());
  if (*changed == 0) return fail(Fault::missing, "no task " + std::to_string(id) + " of this run waits or is in work");
  renew();
  return {};
}

void BatchFiles::give_back(const LeaseKey& key, const std::string& reason) {
  if (const auto back = store_.release(key, reason); !back) log(Level::error, "the store: " + back.error().text());
}

void BatchFiles::release(const std::string& reason) {
  publish_kept(true);
  publish_left_staged();
  std::vector<LeaseKey> held;
  {
    const Lock lock(mutex_);
    for (auto& attempt : attempts_)
      if (!attempt.settled.exchange(true)) held.push_back(attempt.lease.key);
    for (auto& attempt : attempts_) attempt.context.reset();
  }
  for (const auto& key : held) give_back(key, reason);
  for (auto& attempt : attempts_) attempt.engine.reset();
}

}  // namespace tutti
