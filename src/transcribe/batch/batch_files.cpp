#include "transcribe/batch/batch_files.h"

#include <algorithm>

#include "base/files.h"
#include "transcribe/output_plan.h"

namespace tutti {
namespace {

constexpr double kUsualBytesPerSecond = 16000;  // of a recording whose length is not known yet: 128 kbit/s

Seconds guess(const TaskSpec& spec) {
  return Seconds(static_cast<double>(spec.identity.bytes) / kUsualBytesPerSecond);
}

}  // namespace

BatchFiles::BatchFiles(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer)
    : options_(options),
      store_(store),
      pool_(pool),
      observer_(observer),
      room_({{options.staging.parent_path(), "outputs"}, {options.state, "state"}},
            "what is transcribed is kept and written", [this] { room_changed(); }),
      spool_({{temporary_folder(), "TMPDIR"}}, "recordings are decoded there", [this] { room_changed(); }),
      began_(store.now()),
      order_(policy_named(options.policy).value_or(Policy::tutti)) {}

PoolTask BatchFiles::pool_task(TaskId id, const Entry& entry) const {
  const TaskSpec& spec = entry.task->spec;
  PoolTask task{.id = static_cast<std::uint64_t>(id),
                .audio = entry.audio,
                .whole = !options_.run.batched,
                .kind = spec.task_class,
                .priority = spec.priority,
                // All that this run was the first to ask for came together, however long telling the store took.
                .queued_at = std::min(Seconds(0), Seconds(entry.submitted - began_))};
  if (spec.deadline) task.deadline = Seconds(*spec.deadline - began_);
  return task;
}

void BatchFiles::expect(std::size_t tasks) {
  const Lock lock(mutex_);
  tally_.to_come = tasks;
}

void BatchFiles::add(std::span<const AskedTask> tasks) {
  const Lock lock(mutex_);
  tally_.to_come -= std::min(tally_.to_come, tasks.size());
  for (const AskedTask& task : tasks) add(lock, task);
  changed_.notify_all();
}

void BatchFiles::add(const Lock&, const AskedTask& asked) {
  const auto& [id, what, state, submitted, was] = asked.known;
  const auto [at, fresh] =
      entries_.insert({id, {asked.task, submitted, asked.audio.value_or(guess(asked.task->spec)), asked.audio}});
  if (!fresh) return;
  at->second.left_staged = asked.left_staged;
  tally_.add(at->second, state);
  if (is_final(state)) return;
  work_.add(asked.audio);
  if (expect_names(asked.task->outputs()))
    order_.add(pool_task(id, at->second));
  else
    order_.add_first(id);  // people know at once, not when its turn has come
  pool_.add_task(pool_task(id, at->second));
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

/// Nothing needs a device any more: nobody is to wait for one that is still loading its model.
void BatchFiles::stop_pool_when_all_ended() {
  const bool all_ended = [&] {
    const Lock lock(mutex_);
    return all_added_ && tally_.open.count == 0;
  }();
  if (all_ended) pool_.stop(Seconds(0));
}

void BatchFiles::serve(const SpokenModel* model) {
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
  room_.let_go();
  spool_.let_go();
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
  if (paused_ || room_.hold() != RoomWait::Hold::none || spool_.hold() != RoomWait::Hold::none) return false;
  if (in_flight_.empty()) return true;
  const auto most = static_cast<std::size_t>(options_.tasks_at_once);
  return !held_back_ && (most == 0 || in_flight_.size() < most);
}

std::optional<TaskId> BatchFiles::wait_for_task() {
  Lock lock(mutex_);
  for (;;) {
    const auto now = Clock::real().now();
    const bool drained = paused_ && in_flight_.empty();
    over_ = over_ || drained || (all_added_ && tally_.open.count == 0);
    if (!over_ && may_take(lock))
      if (const auto task = order_.take(now)) return task;
    const auto due = order_.wake_at(now);
    tell_held_back(lock);
    if (over_) return {};
    if (!kept_.empty() && place_at_ <= now) {
      lock.unlock();
      place_kept(false);
      lock.lock();
      continue;
    }
    auto wake = due && *due > now ? due : std::nullopt;
    if (!kept_.empty()) wake = std::min(wake.value_or(place_at_), place_at_);
    if (wake)
      changed_.wait_until(lock, *wake);
    else
      changed_.wait(lock);
  }
}

std::optional<TakenFile> BatchFiles::next() {
  while (const auto task = wait_for_task()) {
    if (room_.expect_some()) {
      if (auto taken = claim(*task)) return taken;
    } else {
      again(*task, Seconds(0));
      room_.await_some();
    }
  }
  return {};
}

void BatchFiles::end(TaskId id, std::size_t BatchCounts::*how) {
  pool_.end_task(static_cast<std::uint64_t>(id));
  {
    const Lock lock(mutex_);
    ++(tally_.counts.*how);
    tally_.open.remove(entries_.at(id));
    changed_.notify_all();
  }
  stop_pool_when_all_ended();
}

void BatchFiles::again(TaskId id, Seconds wait) {
  const Lock lock(mutex_);
  const auto when = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(wait);
  order_.add_later(pool_task(id, entries_.at(id)), when);
  changed_.notify_all();
}

void BatchFiles::reached(std::size_t index, Seconds position) {
  at(index).position = position.count();
}

}  // namespace tutti
