#include "transcribe/batch/run_queue.h"

#include <algorithm>
#include <utility>

#include "transcribe/output_plan.h"

namespace tutti {
namespace {

constexpr double kUsualBytesPerSecond = 16000;  // rate of a recording whose length is not known yet: 128 kbit/s

Seconds guess(const JobSpec& spec) {
  return Seconds(static_cast<double>(spec.identity.bytes) / kUsualBytesPerSecond);
}

std::optional<Idle> idle_of(DiskSpaceWait::Hold hold) {
  switch (hold) {
    case DiskSpaceWait::Hold::full: return Idle::disk_full;
    case DiskSpaceWait::Hold::not_writable: return Idle::not_writable;
    case DiskSpaceWait::Hold::none: break;
  }
  return {};
}

}  // namespace

RunQueue::RunQueue(const BatchOptions& options, StoreTime began, BatchState& state, DevicePool& pool)
    : options_(options),
      began_(began),
      state_(state),
      pool_(pool),
      order_(policy_named(options.policy).value_or(Policy::tutti)) {}

PoolJob RunQueue::pool_job(JobId id, const BatchEntry& entry) const {
  const JobSpec& spec = entry.job->spec;
  PoolJob job{.id = static_cast<std::uint64_t>(id),
              .audio = entry.audio,
              .whole = !options_.run.batched,
              .kind = spec.job_class,
              .priority = spec.priority,
              // All jobs that this run was the first to request came together, however long it took to add them to
              // the store.
              .queued_at = std::min(Seconds(0), Seconds(entry.submitted - began_))};
  if (spec.deadline) job.deadline = Seconds(*spec.deadline - began_);
  return job;
}

void RunQueue::expect(std::size_t jobs) {
  const Lock lock(state_.mutex);
  state_.tally.to_come = jobs;
}

void RunQueue::add(std::span<const RequestedJob> jobs) {
  const Lock lock(state_.mutex);
  state_.tally.to_come -= std::min(state_.tally.to_come, jobs.size());
  for (const RequestedJob& job : jobs) add(lock, job);
  state_.changed.notify_all();
}

void RunQueue::add(const Lock&, const RequestedJob& requested) {
  const auto& [id, what, state, submitted, was] = requested.known;
  const auto [at, fresh] = state_.entries.insert(
      {id, {requested.job, submitted, requested.audio.value_or(guess(requested.job->spec)), requested.audio}});
  if (!fresh) return;
  at->second.left_staged = requested.left_staged;
  state_.tally.add(at->second, state);
  if (is_final(state)) return;
  work_.add(requested.audio);
  if (expect_names(requested.job->outputs()))
    order_.add(pool_job(id, at->second));
  else
    order_.add_first(id);  // people know at once, not when its turn has come
  pool_.add_job(pool_job(id, at->second));
}

BatchWork RunQueue::take_new_work() {
  const Lock lock(state_.mutex);
  return std::exchange(work_, {});
}

void RunQueue::all_added() {
  {
    const Lock lock(state_.mutex);
    state_.all_added = true;
    state_.tally.to_come = 0;
    state_.changed.notify_all();
  }
  stop_pool_when_all_ended();
}

/// Nothing needs a device any more: no thread is to wait for one that is still loading its model.
void RunQueue::stop_pool_when_all_ended() {
  const bool all_ended = [&] {
    const Lock lock(state_.mutex);
    return state_.all_added && state_.tally.open.count == 0;
  }();
  if (all_ended) pool_.stop(Seconds(0));
}

void RunQueue::stop_taking() {
  const Lock lock(state_.mutex);
  over_ = true;
  state_.changed.notify_all();
}

void RunQueue::pause() {
  const Lock lock(state_.mutex);
  paused_ = true;
  state_.changed.notify_all();
}

bool RunQueue::resume() {
  const Lock lock(state_.mutex);
  if (over_) return false;
  paused_ = false;
  state_.changed.notify_all();
  return true;
}

void RunQueue::hold_back(bool hold) {
  const Lock lock(state_.mutex);
  if (std::exchange(held_back_, hold) != hold) state_.changed.notify_all();
}

void RunQueue::set_awaiting_answer(bool awaiting) {
  const Lock lock(state_.mutex);
  awaiting_answer_ = awaiting;
  report_hold(lock);
}

void RunQueue::space_changed() {
  const Lock lock(state_.mutex);
  report_hold(lock);
  state_.changed.notify_all();
}

bool RunQueue::is_over() const {
  const Lock lock(state_.mutex);
  return over_;
}

/// One more attempt beside those in flight.
bool RunQueue::may_take(const Lock&) const {
  const auto none = DiskSpaceWait::Hold::none;
  if (paused_ || state_.spaces.output.hold() != none || state_.spaces.spool.hold() != none) return false;
  if (state_.in_flight.empty()) return true;
  const auto most = static_cast<std::size_t>(options_.jobs_at_once);
  return !held_back_ && (most == 0 || state_.in_flight.size() < most);
}

/// Reports to the pool what the idle devices wait for meanwhile; they do not wait for a decoder.
void RunQueue::report_hold(const Lock& held) {
  const auto now = Clock::real().now();
  const auto due = over_ ? std::nullopt : order_.wake_at(now);
  const bool ready = due && *due <= now;
  std::optional<Idle> why;
  if (awaiting_answer_)
    why = Idle::awaiting_answer;
  else if (const auto hold = idle_of(state_.spaces.spool.hold()))
    why = hold;  // also those that were claimed wait
  else if (ready && !may_take(held))
    why =
        paused_ ? Idle::drained : idle_of(state_.spaces.output.hold()).value_or(held_back_ ? Idle::memory : Idle::cap);
  else if (!due && !state_.all_added && !over_)
    why = Idle::input;
  else if (due && !ready && state_.all_added && state_.in_flight.empty())
    why = Idle::put_off;
  if (std::exchange(reported_hold_, why) != why) pool_.held_back(why);
}

RunQueue::NextStep RunQueue::wait() {
  Lock lock(state_.mutex);
  for (;;) {
    const auto now = Clock::real().now();
    const bool drained = paused_ && state_.in_flight.empty();
    over_ = over_ || drained || (state_.all_added && state_.tally.open.count == 0);
    if (!over_ && may_take(lock))
      if (const auto job = order_.take(now)) return {.job = job};
    const auto due = order_.wake_at(now);
    report_hold(lock);
    if (over_) return {};
    const auto retry = state_.retry_kept_at;
    if (retry && *retry <= now) return {.publish_kept = true};
    auto wake = due && *due > now ? due : std::nullopt;
    if (retry) wake = std::min(wake.value_or(*retry), *retry);
    if (wake)
      state_.changed.wait_until(lock, *wake);
    else
      state_.changed.wait(lock);
  }
}

void RunQueue::end(JobId id, std::size_t BatchCounts::*how) {
  pool_.end_job(static_cast<std::uint64_t>(id));
  {
    const Lock lock(state_.mutex);
    ++(state_.tally.counts.*how);
    state_.tally.open.remove(state_.entries.at(id));
    state_.changed.notify_all();
  }
  stop_pool_when_all_ended();
}

void RunQueue::again(JobId id, Seconds wait) {
  const Lock lock(state_.mutex);
  const auto when = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(wait);
  order_.add_later(pool_job(id, state_.entries.at(id)), when);
  state_.changed.notify_all();
}

}  // namespace tutti
