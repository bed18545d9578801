#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "jobs/job.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_tally.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// A job as it was requested. `declared`: its length, where it is known.
BatchEntry entry_of(const Submitted& known, const BatchJob& job, std::optional<Seconds> declared);

/// A batch as it is at one moment.
struct RunSnapshot {
  BatchCounts counts{};
  BatchCounts before{};  // jobs of `counts` that had ended when the run began
  BatchDone done{};
  BatchProgress progress{};
  std::vector<JobStatus> in_work{};
  std::size_t running = 0;             // something is being done for them now
  std::vector<JobFailure> failures{};  // for good, in this run; the latest first, at most a screenful
  std::string held_up{};               // RunSpaces::held_up
};

/// The jobs of a run as it knows them, and their numbers. Thread-safe.
class RunJobs {
 public:
  /// This many jobs are still to be added; until they are, they are counted all the same.
  void expect(std::size_t jobs);
  /// False: it is there already.
  bool add(const BatchEntry& entry);
  void all_added();
  /// What was added since the last call.
  BatchWork take_new_work();

  bool contains(JobId job) const;
  /// `fn(entry, tally)` of a job that is there, with everything in one step.
  template <class Fn>
  decltype(auto) with(JobId job, Fn&& fn) {
    return state_.with([&](State& state) -> decltype(auto) { return fn(state.entries.at(job), state.tally); });
  }
  /// It has ended, and is counted as that.
  void end(JobId job, std::size_t BatchCounts::*how, std::optional<JobFailure> failure);

  BatchCounts counts() const;
  /// What it has and comes to, with what is in work.
  RunSnapshot snapshot(std::span<const BatchAttempt* const> in_work) const;
  /// Those that are done, and whose outputs are not in place.
  std::vector<JobId> left_staged() const;
  /// All of them: the run has ended, and nothing more is known of them here.
  std::map<JobId, BatchEntry> take_entries();

 private:
  struct State {
    std::map<JobId, BatchEntry> entries{};
    BatchTally tally{};
    BatchWork work{};  // not taken yet
    std::deque<JobFailure> failures{};
    bool all_added = false;
  };

  Guarded<State> state_{};
};

}  // namespace tutti
