#include "transcribe/batch/attempt_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"

namespace tutti {

std::optional<Lease> LeaseRenewer::claim(JobId id) {
  auto lease = state_.spaces.output.retry_until_written({}, [&] { return store_.claim({.job = id}); });
  if (!lease) {
    log(Level::error, "the store: " + lease.error().text());
    queue_.stop_taking();
    return {};
  }
  if (!*lease) {
    not_claimable(id);
    return {};
  }
  if (is_superseded(id, (*lease)->job.spec)) {
    release((*lease)->key, "another run has requested it in another way");
    superseded(id);
    return {};
  }
  return *std::move(lease);
}

std::size_t LeaseRenewer::begin(JobId id, Lease lease) {
  const Lock lock(state_.mutex);
  BatchEntry& entry = state_.entries.at(id);
  if (entry.number == 0) entry.number = ++state_.tally.begun;
  const std::size_t index = state_.attempts.size();
  const std::size_t worker = free_worker(lock);
  BatchAttempt& attempt = state_.attempts.emplace_back();
  attempt.index = index;
  attempt.worker = worker;
  attempt.lease = std::move(lease);
  attempt.lease.job.spec = {};  // is `job`, of which the run holds one already
  attempt.job = entry.job;
  attempt.length = entry.audio;
  state_.in_flight.insert(index);
  return index;
}

BatchAttempt& LeaseRenewer::at(std::size_t index) {
  const Lock lock(state_.mutex);
  return state_.attempts.at(index);
}

/// The least that no attempt in flight has, so that of --threads 4 there are four.
std::size_t LeaseRenewer::free_worker(const Lock&) const {
  std::set<std::size_t> taken;
  for (const std::size_t index : state_.in_flight) taken.insert(state_.attempts[index].worker);
  std::size_t worker = 1;
  while (taken.contains(worker)) ++worker;
  return worker;
}

/// Another process has it, or had it: what became of it decides.
void LeaseRenewer::not_claimable(JobId id) {
  const auto now = store_.jobs({.ids = {id}}, 0, 1);
  const bool known = now && !now->empty();
  if (known && is_superseded(id, now->front().spec)) return superseded(id);
  const JobState state = known ? now->front().state : JobState::queued;
  if (state == JobState::done) return queue_.end(id, &BatchCounts::done);
  if (state == JobState::dead) return queue_.end(id, &BatchCounts::failed);
  if (state == JobState::cancelled || state == JobState::held) return queue_.end(id, &BatchCounts::cancelled);
  queue_.again(id, is_first_look(id) ? kFirstCheck : kCheckAgain);
}

bool LeaseRenewer::is_first_look(JobId id) {
  const Lock lock(state_.mutex);
  return !std::exchange(state_.entries.at(id).seen_elsewhere, true);
}

/// The store has another version of it by now: another process requested the same outputs in another way.
bool LeaseRenewer::is_superseded(JobId id, const JobSpec& stored) const {
  const Lock lock(state_.mutex);
  return !is_same_work(stored, state_.entries.at(id).job->spec);
}

void LeaseRenewer::superseded(JobId id) {
  const std::string name = [&] {
    const Lock lock(state_.mutex);
    return state_.entries.at(id).job->spec.name;
  }();
  log(Level::warning, name + ": another run has requested the same outputs in another way; it is left to that run");
  queue_.end(id, &BatchCounts::cancelled);
}

bool LeaseRenewer::settle(BatchAttempt& attempt) {
  const Lock lock(state_.mutex);
  return settle(lock, attempt);
}

bool LeaseRenewer::settle(const Lock&, BatchAttempt& attempt) {
  if (attempt.settled.exchange(true)) return false;
  state_.in_flight.erase(attempt.index);
  state_.changed.notify_all();
  return true;
}

/// As settle, for a thread that does not work on the attempt. Does nothing while the attempt publishes, because
/// publishing finds out by itself who holds the lease.
bool LeaseRenewer::revoke(BatchAttempt& attempt) {
  const Lock lock(state_.mutex);
  if (attempt.publishing || !settle(lock, attempt)) return false;
  if (attempt.engine) attempt.engine->cancel();
  return true;
}

void LeaseRenewer::renew() {
  std::vector<Renewal> renewals;
  std::vector<BatchAttempt*> renewed;
  {
    const Lock lock(state_.mutex);
    for (const std::size_t index : state_.in_flight) {
      BatchAttempt& attempt = state_.attempts[index];
      const double length = attempt.length.count();
      renewals.push_back({attempt.lease.key, length > 0 ? std::min(1.0, attempt.position / length) : 0});
      renewed.push_back(&attempt);
    }
  }
  const auto standings = store_.renew(renewals);
  if (!standings) return log(Level::warning, "the store: leases could not be renewed: " + standings.error().text());
  for (std::size_t i = 0; i < standings->size(); ++i) {
    BatchAttempt& attempt = *renewed[i];
    if ((*standings)[i] == LeaseStanding::held || !revoke(attempt)) continue;
    const JobId id = attempt.lease.key.job;
    if ((*standings)[i] == LeaseStanding::cancel && is_cancelled(attempt.lease.key))
      queue_.end(id, &BatchCounts::cancelled);
    else
      queue_.again(id, kCheckAgain);
  }
}

/// Records in the store that the job is cancelled. False: the store could not be written to, or another process holds
/// the lease by now.
bool LeaseRenewer::is_cancelled(const LeaseKey& key) {
  const auto gone = store_.cancelled(key);
  if (!gone) log(Level::error, "the store: " + gone.error().text());
  return gone && *gone;
}

void LeaseRenewer::reap() {
  renew();  // after a suspend our own leases may have run out without any worker's fault
  if (const auto reaped = store_.reap(); !reaped) log(Level::warning, "the store: " + reaped.error().text());
}

Result<void> LeaseRenewer::cancel(JobId id) {
  const bool known = [&] {
    const Lock lock(state_.mutex);
    return state_.entries.contains(id);
  }();
  const auto changed = known ? store_.cancel({.ids = {id}}) : Result<std::size_t>(0);
  if (!changed) return tl::unexpected(changed.error());
  if (*changed == 0) return fail(Fault::missing, "no job " + std::to_string(id) + " of this run waits or is in work");
  renew();
  return {};
}

void LeaseRenewer::release(const LeaseKey& key, const std::string& reason) {
  if (const auto back = store_.release(key, reason); !back) log(Level::error, "the store: " + back.error().text());
}

void LeaseRenewer::release_all(const std::string& reason) {
  std::vector<LeaseKey> held;
  {
    const Lock lock(state_.mutex);
    for (auto& attempt : state_.attempts)
      if (!attempt.settled.exchange(true)) held.push_back(attempt.lease.key);
    for (auto& attempt : state_.attempts) attempt.context.reset();
  }
  for (const auto& key : held) release(key, reason);
  for (auto& attempt : state_.attempts) attempt.engine.reset();
}

}  // namespace tutti
