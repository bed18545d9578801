#include "balance/task_queue.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr Seconds kUnknownAudio{600};  // of a task, where no other is known either

}  // namespace

Turn TaskQueue::turn(const QueuedTask& task) const {
  return turn_of(task.facts, assumed(task), task.arrival, options_);
}

GroupKey TaskQueue::key_of(const QueuedTask& task) const {
  return {.rank = turn(task).rank,
          .kind = task.facts.kind,
          .whole = task.facts.whole,
          .dealt_to = task.dealt_to ? static_cast<std::int64_t>(*task.dealt_to) : -1};
}

TaskGroup::Entry TaskQueue::entry_of(const QueuedTask& task) const {
  if (task.started && !task.facts.whole && task.facts.kind == TaskClass::batch)
    return {static_cast<double>(task.arrival), 0, task.id};  // what is begun is brought to an end
  const Turn its = turn(task);
  return {its.first, its.second, task.id};
}

Seconds TaskQueue::assumed(const QueuedTask& task) const {
  if (task.facts.audio > Seconds::zero() || task.found) return task.facts.audio;  // found to be silent: nothing is left
  return std::max(task.placed + task.ready_audio, kUnknownAudio);
}

/// Never more than all: what a few recordings last longer than was said is chance, and expecting it of the others would
/// send the last pieces to slow devices.
double TaskQueue::found_share() const {
  constexpr double kDoubt = 4;  // recordings that are thought to be as long as said, beside those that were looked into
  if (found_of_ <= 0) return 1;
  const auto finds = static_cast<double>(finds_);
  return std::min(1.0, (finds * found_ / found_of_ + kDoubt) / (finds + kDoubt));
}

/// What the task adds to the sums.
void TaskQueue::count(QueuedTask& task) {
  Seconds left = std::max(assumed(task) - task.placed, task.ready_audio);
  if (task.facts.whole && task.started) left = task.ready_audio;  // its one piece is in flight, or back in the queue
  if (task.ended) left = {};
  (task.found ? known_ : believed_) += (left - task.counted).count();
  task.counted = left;
  const double pieces = left <= Seconds::zero() ? 0 : task.facts.whole ? 1 : std::ceil(left / options_.piece - 1e-9);
  pieces_ += pieces - task.counted_pieces;
  task.counted_pieces = pieces;
}

Seconds TaskQueue::piece_unplaced() const {
  const double audio = std::max(0.0, known_) + std::max(0.0, believed_);
  return pieces_ >= 1 && audio > 0 ? Seconds(audio / pieces_) : options_.piece;
}

void TaskQueue::list(const QueuedTask& task) {
  if (!listed(task)) return;
  if (task.risky()) {
    risky_.insert(task.id);
    return;
  }
  TaskGroup& group = groups_[key_of(task)];
  (task.started ? group.started : group.fresh).insert(entry_of(task));
}

void TaskQueue::unlist(const QueuedTask& task) {
  if (!listed(task) || risky_.erase(task.id) > 0) return;
  const auto group = groups_.find(key_of(task));
  (task.started ? group->second.started : group->second.fresh).erase(entry_of(task));
  if (group->second.started.empty() && group->second.fresh.empty()) groups_.erase(group);
}

template <class How>
void TaskQueue::change(TaskKey id, How&& how) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end()) return;
  QueuedTask& task = at->second;
  unlist(task);
  ready_ -= task.ready_audio.count();
  how(task);
  count(task);
  ready_ += task.ready_audio.count();
  list(task);
}

void TaskQueue::add(TaskKey id, TaskFacts facts, std::optional<DeviceIndex> dealt_to) {
  const auto [at, is_new] = tasks_.try_emplace(id);
  if (!is_new) return;
  at->second.id = id;
  at->second.facts = std::move(facts);
  at->second.believed = at->second.facts.audio;
  at->second.arrival = arrivals_++;
  at->second.dealt_to = dealt_to;
  count(at->second);
}

QueuedTask* TaskQueue::find(TaskKey id) {
  const auto at = tasks_.find(id);
  return at == tasks_.end() ? nullptr : &at->second;
}

void TaskQueue::correct_length(TaskKey id, Seconds audio) {
  change(id, [&](QueuedTask& task) {
    if (!task.found) {
      believed_ -= task.counted.count();
      known_ += task.counted.count();
    }
    if (task.believed > Seconds::zero()) {
      if (!task.found) {
        found_of_ += task.believed.count();
        ++finds_;
      }
      found_ += (audio - task.found.value_or(Seconds{})).count();
    }
    task.found = audio;
    task.facts.audio = audio;
  });
}

void TaskQueue::offer(TaskKey id, ReadyPieces pieces) {
  if (pieces.count <= 0) return;
  change(id, [&](QueuedTask& task) {
    if (task.ended) return;
    if (!task.ready.empty() && task.ready.back().audio == pieces.audio && !task.ready.back().risky)
      task.ready.back().count += pieces.count;
    else
      task.ready.push_back(pieces);
    task.ready_audio += pieces.audio * static_cast<double>(pieces.count);
    if (task.facts.whole) task.facts.audio = task.placed + task.ready_audio;
  });
}

void TaskQueue::put_back(TaskKey id, ReadyPieces piece) {
  change(id, [&](QueuedTask& task) {
    --task.in_flight;
    task.placed -= piece.audio;
    if (task.ended) return;
    task.ready_audio += piece.audio;
    task.ready.insert(task.ready.begin(), std::move(piece));
  });
  forget_when_over(id);
}

void TaskQueue::withdraw(TaskKey id) {
  change(id, [](QueuedTask& task) {
    task.ready.clear();
    task.ready_audio = {};
  });
}

void TaskQueue::end(TaskKey id) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end() || at->second.ended) return;
  change(id, [&](QueuedTask& task) {
    task.ready.clear();
    task.ready_audio = {};
    task.ended = true;
  });
  if (at->second.started) --in_work_;
  forget_when_over(id);
}

void TaskQueue::rest(TaskKey id) {
  const QueuedTask* resting = find(id);
  if (!resting || resting->ended || !resting->started || resting->in_flight > 0) return;
  change(id, [](QueuedTask& task) {
    task.ready.clear();
    task.ready_audio = {};
    task.placed = {};
    task.started = false;
  });
  --in_work_;
}

void TaskQueue::absolve(DeviceIndex device) {
  for (const TaskKey id : risky_)
    for (ReadyPieces& piece : tasks_.at(id).ready) std::erase(piece.took_down, device);
}

void TaskQueue::forget_when_over(TaskKey id) {
  const auto at = tasks_.find(id);
  if (at != tasks_.end() && at->second.ended && at->second.in_flight == 0) tasks_.erase(at);
}

void TaskQueue::start(QueuedTask& task) {
  task.started = true;
  ++in_work_;
}

ReadyPieces TaskQueue::take(TaskKey id) {
  ReadyPieces taken;
  change(id, [&](QueuedTask& task) {
    taken = task.ready.front();
    taken.count = 1;
    if (--task.ready.front().count == 0) task.ready.erase(task.ready.begin());
    task.ready_audio = task.ready.empty() ? Seconds{} : task.ready_audio - taken.audio;
    task.placed += taken.audio;
    ++task.in_flight;
    if (!task.started) start(task);
  });
  return taken;
}

void TaskQueue::landed(TaskKey id) {
  change(id, [](QueuedTask& task) { --task.in_flight; });
  forget_when_over(id);
}

}  // namespace tutti
