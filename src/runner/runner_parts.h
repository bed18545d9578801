#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/units.h"
#include "cloud/caller_pool.h"
#include "cloud/queue_url.h"
#include "runner/held_messages.h"
#include "runner/job_progress.h"
#include "runner/object_writer.h"
#include "runner/remote_attempt.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/batch/run_jobs.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// What a remote runner works on, and how.
struct RunnerOptions : JobRunOptions {
  QueueUrl queue{};
  std::string bucket{};           // where it writes what it is doing; results go where each message names
  std::string worker_id{};        // "worker-UUID", new for every process
  std::string model_name{};       // as it was named: in results
  std::string model_digest{};     // of digest_of_model
  std::int64_t visibility = 120;  // seconds that others do not see a message in work; renewed three times in that
  int prefetch = 4;               // messages held that are not begun, of which the most urgent begins next
  Seconds idle_timeout{300};      // without a job the run ends; 0: as soon as the queue is empty
};

/// What is decided of the queue before the run.
struct RunnerQueue {
  QueueUrl dead_letters{};
  std::int64_t wait_seconds = 20;  // of a receive
  std::int64_t most_receives = 3;  // the last of which goes to the dead letters when it fails
};

/// What a remote runner has done, and why it takes no more jobs. Thread-safe.
class RunnerTally {
 public:
  /// Why no job is begun any more.
  enum class Over { no, stopped, idle, failed };

  struct Numbers {
    std::size_t in_work = 0;
    std::size_t done = 0, failed = 0, elsewhere = 0, retried = 0, released = 0;
    std::size_t received = 0;
    Seconds estimated{};  // of all that were received
    Seconds audio{};      // of those done
    std::vector<Seconds> transcribed{};
    std::size_t without_speech = 0;
    Clock::Instant last_end = Clock::real().now();  // of a job, or the start
    Over over = Over::no;
    std::optional<Error> why{};  // failed
    std::size_t changes = 0;
    bool held_back = false;  // this machine is short of memory
    std::deque<JobFailure> failures{};
  };

  Numbers now() const {
    return numbers_.with([](const Numbers& numbers) { return numbers; });
  }
  /// Changes the numbers and wakes the thread that takes jobs.
  template <class Fn>
  void change(Fn&& fn) {
    numbers_.change([&](Numbers& numbers) {
      ++numbers.changes;
      fn(numbers);
    });
  }
  /// Until something has changed since there were so many changes.
  void await_change(std::size_t changes, Seconds longest) {
    numbers_.wait_for(longest, [&](const Numbers& numbers) { return numbers.changes != changes; });
  }
  /// Until no job is begun any more.
  void await_over(Seconds longest) {
    numbers_.wait_for(longest, [](const Numbers& numbers) { return numbers.over != Over::no; });
  }

  /// The first reason counts.
  void end(Over reason, std::optional<Error> why = {}) {
    change([&](Numbers& numbers) {
      if (numbers.over != Over::no) return;
      numbers.over = reason;
      numbers.why = std::move(why);
    });
  }
  bool is_over() const {
    return numbers_.with([](const Numbers& numbers) { return numbers.over != Over::no; });
  }

  RunSnapshot snapshot() const;

 private:
  Guarded<Numbers> numbers_{};
};

/// 1 is the note's highest priority; the pool's is the largest number.
inline int pool_priority(const JobMessage& message) {
  return 5 - message.priority;
}

/// What the parts of a remote runner share. Outlives them.
struct RunnerParts {
  const RunnerOptions& options;
  const RunnerQueue& queue;
  DevicePool& pool;
  CallerPool& polls;     // for receives: its requests end when no job is to be begun any more
  CallerPool& callers;   // whose requests end when the run is aborted
  CallerPool& settling;  // works until the end: for what must be done however the run ends
  HeldMessages& held;
  RemoteAttempts& attempts;
  RunnerTally& tally;
  ObjectWriter& objects;
  DiskSpaceWait& spool;  // for fetched and decoded audio

  /// Writes how far a job is to its status.json.
  void report(const RemoteAttempt& attempt, JobPhase phase, std::string message) const;
  static constexpr std::size_t kMostOfReason = 1000;  // bytes, of a dead letter's attribute

  /// Whether the account is refused, and not one request alone: then no job can be done here.
  bool is_account_refused(const Error& error) const;
  /// Where the finished windows of a job are kept until it is done: "transcripts/JOB/segments/".
  static std::string segments_prefix(const std::string& job_id) { return "transcripts/" + job_id + "/segments/"; }
  /// That what is at its output is the result of its recording: done by another, or by an attempt before. Else
  /// Fault::unsupported: the output's name is taken by something else, which is not overwritten. What is too large to
  /// be looked into, or has gone meanwhile, counts as its result.
  Result<void> expect_own_result(const JobMessage& message, const S3Path& output) const;
  /// The job is done: they are not needed any more.
  void remove_windows(const RemoteAttempt& attempt) const;
  /// An attempt has ended: nothing of it is in work any more. `change` is made to the numbers with that.
  void ended(const RemoteAttempt& attempt, const std::function<void(RunnerTally::Numbers&)>& change) const;
};

}  // namespace tutti
