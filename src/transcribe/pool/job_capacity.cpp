#include "transcribe/pool/job_capacity.h"

#include <algorithm>
#include <utility>

namespace tutti {

JobCapacity::JobCapacity(PoolShared& pool, const PoolJob& job) : pool_(pool), job_(job), length_(job.audio) {
  const auto state = pool_.lock();
  record_ = state->record_of(job.id);
  record_->granted = false;
}

JobCapacity::~JobCapacity() {
  const auto pool = pool_.lock();
  if (whole_) give_up(*pool, *whole_);
  pool->dispatcher.defer_job(job_.id, pool->now());  // another job takes its turn among those in work
  pool->pump();
}

std::shared_ptr<Reservation> JobCapacity::reserve(PoolState& pool, Seconds audio) {
  if (job_.whole && whole_ && !record_->ended) return whole_;
  auto reservation = std::make_shared<Reservation>();
  reservation->job = job_.id;
  reservation->record = record_;
  reservation->audio = job_.whole ? job_.audio : audio;
  pool.line_up(reservation, false);
  if (reservation->refused) return reservation;
  pool.dispatcher.offer(job_.id, reservation->audio, 1, pool.now());
  if (job_.whole) whole_ = reservation;
  return reservation;
}

Result<JobCapacity::Granted> JobCapacity::wait_for(Reservation& reservation) {
  auto pool = pool_.lock();
  reservation.changed.wait(pool.held(), [&] { return cancelled_ || reservation.grant != 0 || reservation.refused; });
  if (cancelled_) return fail(Fault::cancelled, "its job is not ours any more");
  if (reservation.refused) return tl::unexpected<Error>(*reservation.refused);
  const Granted granted{reservation.worker, reservation.grant, reservation.device, reservation.generation};
  const auto notify = std::exchange(when_granted_, {});
  pool.held().unlock();
  if (notify) notify();
  return granted;
}

bool JobCapacity::moves(const std::shared_ptr<Reservation>& reservation, const Granted& granted, const Error& error,
                        WindowId window) {
  const bool ended = granted.worker->ended().has_value() || error.fault == Fault::device;
  if (!ended && error.fault == Fault::exhausted) granted.worker->release(window);
  const auto pool = pool_.lock();
  if (pool->stopping || cancelled_) return false;        // the caller closes the window
  if (reservation->grant != granted.grant) return true;  // another thread has reported it already
  if (ended) {
    pool->lost(granted.device, granted.generation, error, Blame::device);
    return true;
  }
  const bool full = error.fault == Fault::exhausted;
  pool->granted.erase(std::exchange(reservation->grant, 0));
  reservation->worker.reset();
  const auto decision =
      pool->dispatcher.failed(granted.grant, full ? Blame::exhausted : Blame::permanent, error.what, pool->now());
  const bool again = full && decision.next == FailureDecision::Next::retry;
  if (again)
    pool->line_up(reservation, true);
  else
    reservation->refused = error;
  pool->pump();
  return again;
}

void JobCapacity::give_up(PoolState& pool, Reservation& reservation) {
  if (reservation.grant != 0) {
    pool.granted.erase(reservation.grant);
    pool.dispatcher.finished(std::exchange(reservation.grant, 0), pool.now(), reservation.decoded);
    return;
  }
  auto& waiting = record_->waiting;
  const auto found = std::ranges::find_if(waiting, [&](const auto& other) { return other.get() == &reservation; });
  if (found == waiting.end()) return;
  waiting.erase(found);
  pool.dispatcher.withdraw(job_.id, pool.now());
  if (!waiting.empty())
    pool.dispatcher.offer(job_.id, waiting.front()->audio, static_cast<std::int64_t>(waiting.size()), pool.now());
}

void JobCapacity::correct_length(Seconds audio) {
  const auto pool = pool_.lock();
  // A recording without speech still has one window that detects its language: no longer than the recording.
  if (audio > Seconds(0)) length_ = audio;
  pool->dispatcher.correct_length(job_.id, audio, pool->now());
}

void JobCapacity::answered(const Granted& granted, Seconds audio, Seconds busy) {
  const auto pool = pool_.lock();
  pool->members[granted.device].progress_at = pool->now();
  JobEngine::Use& use = record_->uses[granted.device];
  // A window that is decoded again, or overlaps the one before, or ends in padding: no more than there is.
  if (length_ > Seconds(0)) audio = std::clamp(length_ - credited_, Seconds(0), audio);
  credited_ += audio;
  use.audio += audio;
  use.busy += busy / pool->options.time;
}

JobEngine::Use JobCapacity::use() const {
  const auto pool = pool_.lock();
  JobEngine::Use all;
  Seconds most{-1};
  for (const auto& [device, use] : record_->uses) {
    all.audio += use.audio;
    all.busy += use.busy;
    all.busy_on[pool->members[device].facts.id] = use.busy;
    if (use.audio > most) all.device = pool->members[device].facts.id;
    most = std::max(most, use.audio);
  }
  all.devices_failed = record_->moves;
  return all;
}

std::string JobCapacity::where() const {
  const auto pool = pool_.lock();
  std::string text;
  for (DeviceIndex device = 0; device < pool->members.size(); ++device)
    if (std::ranges::any_of(pool->granted,
                            [&](const auto& at) { return at.second->job == job_.id && at.second->device == device; }))
      text += (text.empty() ? "" : ",") + pool->members[device].facts.id;
  return text;
}

}  // namespace tutti
