#include "transcribe/batch/run_queue.h"

#include <algorithm>
#include <utility>

#include "transcribe/output_plan.h"

namespace tutti {
namespace {

constexpr Seconds kNoWake{3600};     // a change wakes it
constexpr std::size_t kAhead = 100;  // two claims of the largest size

std::optional<Idle> idle_of(DiskSpaceWait::Hold hold) {
  switch (hold) {
    case DiskSpaceWait::Hold::full: return Idle::disk_full;
    case DiskSpaceWait::Hold::not_writable: return Idle::not_writable;
    case DiskSpaceWait::Hold::none: break;
  }
  return {};
}

}  // namespace

PoolJob pool_job(const BatchEntry& entry, const BatchOptions& options, StoreTime began) {
  const JobSpec& spec = entry.job->spec;
  PoolJob job{.id = static_cast<std::uint64_t>(entry.id),
              .audio = entry.audio,
              .whole = !options.run.batched,
              .kind = spec.job_class,
              .priority = spec.priority,
              // All jobs that this run was the first to request came together, however long it took to add them to
              // the store.
              .queued_at = std::min(Seconds(0), Seconds(entry.submitted - began))};
  if (spec.deadline) job.deadline = Seconds(*spec.deadline - began);
  return job;
}

RunQueue::RunQueue(const BatchOptions& options, StoreTime began, RunJobs& jobs, const RunSpaces& spaces,
                   DevicePool& pool)
    : options_(options),
      began_(began),
      jobs_(jobs),
      spaces_(spaces),
      pool_(pool),
      state_(State{.order = WorkOrder(policy_named(options.policy).value_or(Policy::tutti))}) {}

template <class Fn>
void RunQueue::change(Fn fn) {
  state_.change([&](State& state) {
    fn(state);
    ++state.changes;
  });
}

void RunQueue::add(std::span<const BatchEntry> jobs) {
  std::vector<const BatchEntry*> fresh;
  for (const BatchEntry& entry : jobs)
    if (jobs_.add(entry) && !is_final(entry.state)) fresh.push_back(&entry);
  for (const BatchEntry* entry : fresh) pool_.add_job(pool_job(*entry, options_, began_));
  change([&](State& state) {
    for (const BatchEntry* entry : fresh) {
      ++state.open;
      if (expect_names(entry->job->outputs()))
        state.order.add(pool_job(*entry, options_, began_));
      else
        state.order.add_first(entry->id);  // people know at once, not when its turn has come
    }
  });
}

void RunQueue::all_added() {
  jobs_.all_added();
  bool all_ended = false;
  change([&](State& state) {
    state.all_added = true;
    all_ended = state.open == 0;
  });
  if (all_ended) pool_.stop(Seconds(0));
}

void RunQueue::stop_taking() {
  change([](State& state) { state.over = true; });
}

bool RunQueue::is_over() const {
  return state_.with([](const State& state) { return state.over; });
}

bool RunQueue::set_hold(RunHold hold, bool holds) {
  bool is_over = false;
  change([&](State& state) {
    is_over = state.over;
    switch (hold) {
      case RunHold::paused: state.paused = holds || (state.paused && is_over); break;
      case RunHold::memory: state.short_of_memory = holds; break;
      case RunHold::awaiting_answer: state.awaiting_answer = holds; break;
    }
    report_hold(state);
  });
  return !is_over;
}

void RunQueue::space_changed() {
  change([this](State& state) { report_hold(state); });
}

void RunQueue::count_in_work(int more) {
  change([&](State& state) { state.in_work += more; });
}

void RunQueue::publish_kept_at(Clock::Instant when) {
  change([&](State& state) { state.publish_kept_at = std::min(when, state.publish_kept_at.value_or(when)); });
}

/// One more attempt beside those in work, `most` of which there may be; 0: any number.
bool RunQueue::State::may_take(const RunSpaces& spaces, int most) const {
  const auto none = DiskSpaceWait::Hold::none;
  if (paused || spaces.output.hold() != none || spaces.spool.hold() != none) return false;
  return in_work == 0 || (!short_of_memory && (most == 0 || in_work < most));
}

/// What idle devices wait for meanwhile; they do not wait for a decoder.
std::optional<Idle> RunQueue::State::hold(const RunSpaces& spaces, int most, Clock::Instant now) const {
  const auto due = over ? std::nullopt : order.wake_at(now);
  const bool ready = due && *due <= now;
  if (awaiting_answer) return Idle::awaiting_answer;
  if (const auto full = idle_of(spaces.spool.hold())) return full;  // also those that were claimed wait
  if (ready && !may_take(spaces, most)) {
    if (paused) return Idle::drained;
    return idle_of(spaces.output.hold()).value_or(short_of_memory ? Idle::memory : Idle::cap);
  }
  if (!due && !all_added && !over) return Idle::input;
  if (due && !ready && all_added && in_work == 0) return Idle::put_off;
  return {};
}

void RunQueue::report_hold(State& state) const {
  const auto why = state.hold(spaces_, options_.jobs_at_once, Clock::real().now());
  if (std::exchange(state.reported_hold, why) != why) pool_.held_back(why);
}

RunQueue::NextStep RunQueue::wait() {
  for (;;) {
    const auto now = Clock::real().now();
    std::optional<Clock::Instant> wake;
    std::uint64_t seen = 0;
    const auto step = state_.with([&](State& state) -> std::optional<NextStep> {
      const bool drained = state.paused && state.in_work == 0;
      state.over = state.over || drained || (state.all_added && state.open == 0);
      if (!state.over && state.may_take(spaces_, options_.jobs_at_once))
        if (const auto job = state.order.take(now))
          return NextStep{.job = job, .ahead = state.order.next(kAhead), .ready = state.order.ready()};
      report_hold(state);
      if (state.over) return NextStep{};
      if (state.publish_kept_at && *state.publish_kept_at <= now) {
        state.publish_kept_at.reset();
        return NextStep{.publish_kept = true};
      }
      wake = state.order.wake_at(now);
      if (wake && *wake <= now) wake.reset();  // it may not be taken: a change is to allow that
      if (state.publish_kept_at) wake = std::min(wake.value_or(*state.publish_kept_at), *state.publish_kept_at);
      seen = state.changes;
      return std::nullopt;
    });
    if (step) return *step;
    state_.wait_for(wake ? Seconds(*wake - now) : kNoWake, [&](const State& state) { return state.changes != seen; });
  }
}

void RunQueue::end(JobId id, std::size_t BatchCounts::*how, std::optional<JobFailure> failure) {
  pool_.end_job(static_cast<std::uint64_t>(id));
  jobs_.end(id, how, std::move(failure));
  bool all_ended = false;
  change([&](State& state) {
    --state.open;
    all_ended = state.all_added && state.open == 0;
  });
  if (all_ended) pool_.stop(Seconds(0));  // no thread is to wait for a device that is still loading its model
}

void RunQueue::again(JobId id, Seconds wait) {
  const PoolJob job =
      jobs_.with(id, [this](const BatchEntry& entry, const BatchTally&) { return pool_job(entry, options_, began_); });
  const auto when = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(wait);
  change([&](State& state) { state.order.add_later(job, when); });
}

}  // namespace tutti
