#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "transcribe/batch/batch_files.h"

namespace tutti {

// How a job of a batch is claimed, beside other processes that may want it as well.

namespace {

std::optional<Idle> idle_of(DiskSpaceWait::Hold hold) {
  switch (hold) {
    case DiskSpaceWait::Hold::full: return Idle::disk_full;
    case DiskSpaceWait::Hold::not_writable: return Idle::not_writable;
    case DiskSpaceWait::Hold::none: break;
  }
  return {};
}

}  // namespace

/// Reports to the pool what the idle devices wait for meanwhile; they do not wait for a decoder.
void BatchFiles::tell_held_back(const Lock& held) {
  const auto now = Clock::real().now();
  const auto due = over_ ? std::nullopt : order_.wake_at(now);
  const bool ready = due && *due <= now;
  std::optional<Idle> why;
  if (asking_)
    why = Idle::awaiting_answer;
  else if (const auto hold = idle_of(spool_space_.hold()))
    why = hold;  // also those that were claimed wait
  else if (ready && !may_take(held))
    why = paused_ ? Idle::drained : idle_of(output_space_.hold()).value_or(held_back_ ? Idle::memory : Idle::cap);
  else if (!due && !all_added_ && !over_)
    why = Idle::input;
  else if (due && !ready && all_added_ && in_flight_.empty())
    why = Idle::put_off;
  if (std::exchange(reported_hold_, why) != why) pool_.held_back(why);
}

std::optional<ClaimedFile> BatchFiles::claim(JobId id) {
  auto lease = output_space_.retry_until_written({}, [&] { return store_.claim({.job = id}); });
  if (!lease) {
    log(Level::error, "the store: " + lease.error().text());
    stop_taking();
    return {};
  }
  if (!*lease) {
    not_claimable(id);
    return {};
  }
  if (is_superseded(id, (*lease)->job.spec)) {
    give_back((*lease)->key, "another run has requested it in another way");
    superseded(id);
    return {};
  }
  return begin_attempt(id, *std::move(*lease));
}

/// None: a user has stopped the run meanwhile, in answer to the question about another recording.
std::optional<ClaimedFile> BatchFiles::begin_attempt(JobId id, Lease lease) {
  std::size_t index = 0;
  std::filesystem::path input;
  {
    const Lock lock(mutex_);
    Entry& entry = entries_.at(id);
    if (entry.number == 0) entry.number = ++tally_.begun;
    index = attempts_.size();
    const std::size_t worker = free_worker(lock);
    BatchAttempt& attempt = attempts_.emplace_back();
    attempt.index = index;
    attempt.worker = worker;
    attempt.lease = std::move(lease);
    attempt.lease.job.spec = {};  // is `job`, of which the run holds one already
    attempt.job = entry.job;
    attempt.length = entry.audio;
    in_flight_.insert(index);
    input = entry.job->spec.input;
  }
  {
    const std::lock_guard telling(telling_);  // while a question is open, nothing begins
    if (!is_over()) return ClaimedFile{index, std::move(input)};
  }
  failed(index, {Fault::cancelled, "the run was stopped before it began", ""});
  return {};
}

/// The least that no attempt in flight has, so that of --threads 4 there are four.
std::size_t BatchFiles::free_worker(const Lock&) const {
  std::set<std::size_t> taken;
  for (const std::size_t index : in_flight_) taken.insert(attempts_[index].worker);
  std::size_t worker = 1;
  while (taken.contains(worker)) ++worker;
  return worker;
}

/// A recording counts as started when it gets a device, or when it ends without any.
std::size_t BatchFiles::number_of(const Lock&, Entry& entry) {
  if (entry.started == 0) entry.started = ++tally_.started;
  return entry.started;
}

/// Every other report calls this first, so that no recording ends before its start is reported. Where another thread is
/// doing that already, as while a question about a failure is open, nothing waits for it.
void BatchFiles::report_starts() {
  const std::unique_lock telling(telling_, std::try_to_lock);
  if (telling) report_starts(telling);
}

void BatchFiles::report_starts(const Lock&) {
  for (FirstGrant& first : pool_.first_grants())
    if (const auto start = start_of(std::move(first))) observer_.on_start(*start);
}

/// A recording that ends without a device has started all the same.
void BatchFiles::report_starts_before_end(const Lock& telling, JobId id) {
  report_starts(telling);
  const Lock lock(mutex_);
  number_of(lock, entries_.at(id));
}

/// None: this run has not claimed it. An attempt that has ended meanwhile has started all the same.
std::optional<BatchStart> BatchFiles::start_of(FirstGrant first) {
  const auto id = static_cast<JobId>(first.job);
  const Lock lock(mutex_);
  const auto at = std::find_if(attempts_.rbegin(), attempts_.rend(),
                               [&](const BatchAttempt& attempt) { return attempt.lease.key.job == id; });
  if (at == attempts_.rend()) return {};
  const BatchAttempt& attempt = *at;
  const auto chosen = std::ranges::find(options_.devices, first.device, &ChosenDevice::id);
  return BatchStart{.number = number_of(lock, entries_.at(id)),
                    .total = tally_.to_do + tally_.to_come,
                    .name = attempt.job->spec.name,
                    .uuid = attempt.job->spec.uuid,
                    .worker = attempt.worker,
                    .device = chosen == options_.devices.end() ? first.device : chosen->label,
                    .attempt = attempt.lease.attempt,
                    .before = std::move(first.before)};
}

bool BatchFiles::is_over() const {
  const Lock lock(mutex_);
  return over_;
}

/// Another process has it, or had it: what became of it decides.
void BatchFiles::not_claimable(JobId id) {
  const auto now = store_.jobs({.ids = {id}}, 0, 1);
  const bool known = now && !now->empty();
  if (known && is_superseded(id, now->front().spec)) return superseded(id);
  const JobState state = known ? now->front().state : JobState::queued;
  if (state == JobState::done) return end(id, &BatchCounts::done);
  if (state == JobState::dead) return end(id, &BatchCounts::failed);
  if (state == JobState::cancelled || state == JobState::held) return end(id, &BatchCounts::cancelled);
  again(id, kLookAgain);
}

bool BatchFiles::is_superseded(JobId id, const JobSpec& stored) const {
  const Lock lock(mutex_);
  return !is_same_work(stored, entries_.at(id).job->spec);
}

void BatchFiles::superseded(JobId id) {
  const std::string name = [&] {
    const Lock lock(mutex_);
    return entries_.at(id).job->spec.name;
  }();
  log(Level::warning, name + ": another run has requested the same outputs in another way; it is left to that run");
  end(id, &BatchCounts::cancelled);
}

}  // namespace tutti
