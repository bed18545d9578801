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
  const std::string results = output_space_.why(), sound = spool_space_.why();
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

BatchEntry BatchFiles::entry(JobId job) const {
  const Lock lock(mutex_);
  const auto found = entries_.find(job);
  return found == entries_.end() ? BatchEntry{} : found->second;
}

std::vector<JobId> BatchFiles::ids() const {
  const Lock lock(mutex_);
  std::vector<JobId> ids;
  for (const auto& [id, entry] : entries_) ids.push_back(id);
  return ids;
}

std::vector<JobFailure> BatchFiles::failures() const {
  const Lock lock(mutex_);
  return {failures_.begin(), failures_.end()};
}

std::vector<AttemptStatus> BatchFiles::in_work() const {
  const Lock lock(mutex_);
  std::vector<AttemptStatus> all;
  for (const std::size_t index : in_flight_) {
    const BatchAttempt& attempt = attempts_[index];
    all.push_back({.id = attempt.lease.key.job,
                   .name = attempt.job->spec.name,
                   .devices = attempt.engine ? attempt.engine->where() : std::string(),
                   .decoded = attempt.decoded,
                   .no_space = attempt.no_space,
                   .publishing = attempt.publishing,
                   .position = Seconds(attempt.position),
                   .length = attempt.length});
  }
  return all;
}

}  // namespace tutti
