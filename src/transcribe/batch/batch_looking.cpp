#include <algorithm>

#include "transcribe/batch/batch_files.h"

namespace tutti {

// What others see of the files of a batch while it runs.

BatchCounts BatchFiles::counts() const {
  const Lock lock(mutex_);
  BatchCounts counts = tally_.counts;
  counts.total += tally_.to_come;
  return counts;
}

BatchCounts BatchFiles::before() const {
  const Lock lock(mutex_);
  return tally_.before;
}

BatchDone BatchFiles::done() const {
  const Lock lock(mutex_);
  return tally_.done;
}

std::string BatchFiles::held_up() const {
  const std::string results = room_.why(), sound = spool_.why();
  return results.empty() || sound.empty() ? results + sound : results + "; " + sound;
}

BatchProgress BatchFiles::progress() const {
  const Lock lock(mutex_);
  BatchProgress progress{.done = tally_.done.audio, .all_known = tally_.to_come == 0};
  for (const std::size_t index : in_flight_) {
    const BatchAttempt& attempt = attempts_[index];
    progress.done += std::min(Seconds(attempt.position), attempt.length);
  }
  if (all_added_ && tally_.open.unknown == 0)
    progress.total = std::max(progress.done, tally_.done.audio + tally_.open.audio);
  return progress;
}

BatchEntry BatchFiles::entry(TaskId task) const {
  const Lock lock(mutex_);
  const auto found = entries_.find(task);
  return found == entries_.end() ? BatchEntry{} : found->second;
}

std::vector<TaskId> BatchFiles::ids() const {
  const Lock lock(mutex_);
  std::vector<TaskId> ids;
  for (const auto& [id, entry] : entries_) ids.push_back(id);
  return ids;
}

std::vector<TaskFailure> BatchFiles::failures() const {
  const Lock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

std::vector<BatchInWork> BatchFiles::in_work() const {
  const Lock lock(mutex_);
  std::vector<BatchInWork> all;
  for (const std::size_t index : in_flight_) {
    const BatchAttempt& attempt = attempts_[index];
    all.push_back({.id = attempt.lease.key.task,
                   .name = attempt.task->spec.name,
                   .devices = attempt.engine ? attempt.engine->where() : std::string(),
                   .decoded = attempt.decoded,
                   .no_room = attempt.no_room,
                   .publishing = attempt.publishing,
                   .position = Seconds(attempt.position),
                   .length = attempt.length});
  }
  return all;
}

}  // namespace tutti
