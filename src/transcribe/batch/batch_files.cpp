#include "transcribe/batch/batch_files.h"

#include <algorithm>

#include "base/files.h"
#include "transcribe/output_plan.h"

namespace tutti {
namespace {

constexpr double kUsualBytesPerSecond = 16000;  // of a recording whose length is not known yet: 128 kbit/s

Seconds guess(const JobSpec& spec) {
  return Seconds(static_cast<double>(spec.identity.bytes) / kUsualBytesPerSecond);
}

}  // namespace

BatchFiles::BatchFiles(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer)
    : options_(options),
      store_(store),
      pool_(pool),
      observer_(observer),
      output_space_({{options.staging.parent_path(), "outputs"}, {options.state, "state"}},
                    "what is transcribed is kept and written", [this] { space_changed(); }),
      spool_space_({{temporary_folder(), "TMPDIR"}}, "recordings are decoded there", [this] { space_changed(); }),
      began_(store.now()),
      order_(policy_named(options.policy).value_or(Policy::tutti)) {}

PoolJob BatchFiles::pool_job(JobId id, const Entry& entry) const {
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

void BatchFiles::expect(std::size_t jobs) {
  const Lock lock(mutex_);
  tally_.to_come = jobs;
}

void BatchFiles::add(std::span<const RequestedJob> jobs) {
  const Lock lock(mutex_);
  tally_.to_come -= std::min(tally_.to_come, jobs.size());
  for (const RequestedJob& job : jobs) add(lock, job);
  changed_.notify_all();
}

void BatchFiles::add(const Lock&, const RequestedJob& requested) {
  const auto& [id, what, state, submitted, was] = requested.known;
  const auto [at, fresh] = entries_.insert(
      {id, {requested.job, submitted, requested.audio.value_or(guess(requested.job->spec)), requested.audio}});
  if (!fresh) return;
  at->second.left_staged = requested.left_staged;
  tally_.add(at->second, state);
  if (is_final(state)) return;
  work_.add(requested.audio);
  if (expect_names(requested.job->outputs()))
    order_.add(pool_job(id, at->second));
  else
    order_.add_first(id);  // people know at once, not when its turn has come
  pool_.add_job(pool_job(id, at->second));
}

void BatchFiles::tell_work() {
  const BatchWork work = [&] {
    const Lock lock(mutex_);
    return std::exchange(work_, {});
  }();
  const std::lock_guard telling(telling_);
  observer_.on_accepted(work);
}

void BatchFiles::all_added() {
  {
    const Lock lock(mutex_);
    all_added_ = true;
    tally_.to_come = 0;
    changed_.notify_all();
  }
  stop_pool_when_all_ended();
}

/// Nothing needs a device any more: no thread is to wait for one that is still loading its model.
void BatchFiles::stop_pool_when_all_ended() {
  const bool all_ended = [&] {
    const Lock lock(mutex_);
    return all_added_ && tally_.open.count == 0;
  }();
  if (all_ended) pool_.stop(Seconds(0));
}

void BatchFiles::serve(const ModelContext* model) {
  const Lock lock(mutex_);
  model_ = model;
  changed_.notify_all();
}

void BatchFiles::stop_taking() {
  const Lock lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void BatchFiles::abort() {
  aborted_ = true;
  output_space_.close();
  spool_space_.close();
}

void BatchFiles::pause() {
  const Lock lock(mutex_);
  paused_ = true;
  changed_.notify_all();
}

bool BatchFiles::go_on() {
  const Lock lock(mutex_);
  if (over_) return false;
  paused_ = false;
  changed_.notify_all();
  return true;
}

void BatchFiles::hold_back(bool hold) {
  const Lock lock(mutex_);
  if (std::exchange(held_back_, hold) != hold) changed_.notify_all();
}

BatchAttempt& BatchFiles::at(std::size_t index) const {
  const Lock lock(mutex_);
  return attempts_.at(index);
}

/// One more attempt beside those in flight.
bool BatchFiles::may_take(const Lock&) const {
  if (paused_ || output_space_.hold() != DiskSpaceWait::Hold::none || spool_space_.hold() != DiskSpaceWait::Hold::none)
    return false;
  if (in_flight_.empty()) return true;
  const auto most = static_cast<std::size_t>(options_.jobs_at_once);
  return !held_back_ && (most == 0 || in_flight_.size() < most);
}

std::optional<JobId> BatchFiles::wait_for_job() {
  Lock lock(mutex_);
  for (;;) {
    const auto now = Clock::real().now();
    const bool drained = paused_ && in_flight_.empty();
    over_ = over_ || drained || (all_added_ && tally_.open.count == 0);
    if (!over_ && may_take(lock))
      if (const auto job = order_.take(now)) return job;
    const auto due = order_.wake_at(now);
    tell_held_back(lock);
    if (over_) return {};
    if (!kept_.empty() && retry_kept_at_ <= now) {
      lock.unlock();
      publish_kept(false);
      lock.lock();
      continue;
    }
    auto wake = due && *due > now ? due : std::nullopt;
    if (!kept_.empty()) wake = std::min(wake.value_or(retry_kept_at_), retry_kept_at_);
    if (wake)
      changed_.wait_until(lock, *wake);
    else
      changed_.wait(lock);
  }
}

std::optional<ClaimedFile> BatchFiles::next() {
  while (const auto job = wait_for_job()) {
    if (output_space_.expect_some()) {
      if (auto taken = claim(*job)) return taken;
    } else {
      again(*job, Seconds(0));
      output_space_.await_some();
    }
  }
  return {};
}

void BatchFiles::end(JobId id, std::size_t BatchCounts::*how) {
  pool_.end_job(static_cast<std::uint64_t>(id));
  {
    const Lock lock(mutex_);
    ++(tally_.counts.*how);
    tally_.open.remove(entries_.at(id));
    changed_.notify_all();
  }
  stop_pool_when_all_ended();
}

void BatchFiles::again(JobId id, Seconds wait) {
  const Lock lock(mutex_);
  const auto when = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(wait);
  order_.add_later(pool_job(id, entries_.at(id)), when);
  changed_.notify_all();
}

void BatchFiles::reached(std::size_t index, Seconds position) {
  at(index).position = position.count();
}

}  // namespace tutti
