#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "transcribe/batch/batch_jobs.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_submitter.h"

namespace tutti {

/// Which jobs of a shared store a remote runner takes, and when it ends.
struct FollowOptions {
  std::string fingerprint{};      // JobSpec::options of the jobs that it can do
  std::vector<Format> formats{};  // of their outputs
  Seconds idle_timeout{300};      // it ends so long after its last job, when the store is found without one for it
};

/// Takes jobs that other processes have submitted to the store, a few hundred at a time, and passes each to the run,
/// once: what it has ended and is queued again later is left to other runners, or to its next start. The arguments
/// outlive it. One thread.
class StoreFollower {
 public:
  /// `stopped`: nothing more is to be taken.
  /// `objects`: by which outputs in buckets are reached.
  StoreFollower(const FollowOptions& options, const StoredRun& run, BatchJobs& jobs, ObjectOutputs* objects,
                std::function<bool()> stopped)
      : options_(options), run_(run), jobs_(jobs), objects_(objects), stopped_(std::move(stopped)) {}

  /// Until the idle time is over, or `stopped`. Between two looks at the store is a second, more or less, so that many
  /// runners do not look together.
  Result<void> follow(const Clock& clock = Clock::real());

 private:
  /// Takes what the next page of queued jobs has for it. Returns whether it had any.
  Result<bool> take_page();
  Result<void> look_at_others();
  /// Before any job of it is begun: jobs whose outputs cannot be written are no failures of theirs.
  Result<void> expect_writable(const JobSpec& spec);
  std::size_t open() const;
  void wait() const;

  const FollowOptions& options_;
  const JobFilter own_{.states = {JobState::queued}, .options = options_.fingerprint};
  const StoredRun run_;
  BatchJobs& jobs_;
  ObjectOutputs* const objects_;
  const std::function<bool()> stopped_;
  std::set<std::string> writable_{};  // folders in buckets
  std::deque<BatchJob> taken_{};      // entries of the run point to them
  JobId last_ = 0;                    // of the latest page
  bool has_others_ = false;           // the store has jobs that are to be done in another way, and a user knows
};

}  // namespace tutti
