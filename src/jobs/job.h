#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job_class.h"
#include "base/units.h"

namespace tutti {

using JobId = std::int64_t;
using RunId = std::int64_t;

/// A moment by a store's clock, in milliseconds since 1970 as that store counts them. Moments of one store compare;
/// they may differ from the wall clock by its corrections since the machine started.
using StoreTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// The state of a job. A failure that will be retried is `queued` again, with a time before which it is not claimed.
enum class JobState { queued, running, done, dead, cancelled, held };
std::string_view name_of(JobState state);
std::optional<JobState> job_state_named(std::string_view name);
/// Ended for good: done, dead or cancelled.
bool is_final(JobState state);

/// How the length of the audio is known; a later one in this list replaces an earlier one.
enum class LengthSource { unknown, claimed, probed, measured };

/// What distinguishes one version of an input file from another without reading it.
struct InputIdentity {
  std::int64_t bytes = 0;        // both 0: it was not there to be looked at
  std::int64_t modified_ns = 0;  // mtime since 1970
  bool operator==(const InputIdentity&) const = default;
};

/// Whether a requested recording is the one that is known: what is away for now has not changed.
inline bool is_unchanged(const InputIdentity& known, const InputIdentity& requested) {
  return requested == known || requested == InputIdentity{};
}

/// One piece of work, as its caller requests it.
struct JobSpec {
  /// What makes it the same piece of work when requested again: for files, the absolute path of the output without its
  /// extension. Unique in the store. Another request with the same identity and options changes what it is called and
  /// how urgent it is. With other ones the job starts again, and a worker on the old version is fenced off.
  std::string key{};
  std::string batch{};  // jobs that belong together: filters, counts, reports
  std::string input{};  // absolute path
  InputIdentity identity{};
  std::string options{};  // fingerprint of everything that changes the result (not where it goes)
  std::optional<Seconds> audio{};
  LengthSource length = LengthSource::unknown;
  JobClass job_class = JobClass::batch;
  int priority = 0;                     // higher first; waiting ten minutes counts one
  std::optional<StoreTime> deadline{};  // the earliest interactive job goes first
  std::string uuid{};                   // the caller's own id
  std::string name{};                   // for people
  std::string extra = "{}";             // fields of the manifest that Tutti does not know, as JSON
};

/// Whether the requested work is the known one: the same input in the same version, transcribed in the same way.
inline bool is_same_work(const JobSpec& known, const JobSpec& requested) {
  return known.input == requested.input && is_unchanged(known.identity, requested.identity) &&
         known.options == requested.options;
}

/// A file that a job made: its public name, and what must be in it.
struct JobOutput {
  std::string path{};    // where it is, absolute: the public name, or beside `kept`
  std::string staged{};  // the temporary name it was written under, on the same file system
  std::string sha256{};
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;  // mtime of the staged file, which it keeps at its public name; 0: not known
  std::string kept{};            // the public name, where a file has it that this job did not write; empty: none has
  bool operator==(const JobOutput&) const = default;
};

struct Job {
  JobId id = 0;
  RunId run = 0;  // the latest that requested it
  JobSpec spec{};
  JobState state = JobState::queued;
  int attempts = 0;                              // claims so far, of all versions
  int strikes = 0;                               // failures that count towards giving up
  int device_failures = 0, memory_failures = 0;  // forgiven ones (RetryHistory)
  double progress = 0;                           // 0..1, of the attempt in work
  std::string sha256{};                          // digest of the input; empty: not read yet
  JobId same_as = 0;                             // has the same content and options as that job; 0: none known
  JobId waits_for = 0;  // until that job, which is the same work, is not worked on any more; 0: none
  StoreTime submitted{};
  StoreTime not_before{};
  bool cancel_requested = false;  // running, and to be stopped
  std::string owner{};            // running: the process that holds it; empty else
  std::string device{};           // device of the latest attempt
  std::string failed_on{};        // device of the latest attempt that failed
  std::string error{};            // error of the latest attempt that failed
};

/// How an attempt ended. Only `failed` and `expired` count as faults.
enum class AttemptEnd {
  running,
  done,
  failed,
  expired,     // its owner lived but did not renew the lease
  orphaned,    // its owner, a tutti process, is gone
  handed_back  // stopped in good order, or superseded by a newer version
};
std::string_view name_of(AttemptEnd end);
std::optional<AttemptEnd> attempt_end_named(std::string_view name);

struct Attempt {
  JobId job = 0;
  int number = 0;
  std::string device{};
  std::string owner{};
  StoreTime started{};
  std::optional<StoreTime> ended{};
  AttemptEnd end = AttemptEnd::running;
  std::string failure{};  // name of the FailureClass; empty: did not fail
  std::string error{};
  Seconds busy{};
};

/// Which jobs are selected; every field narrows, empty ones do not.
struct JobFilter {
  std::string batch{};
  RunId run = 0;
  std::vector<JobState> states{};
  std::vector<JobId> ids{};
  std::string options{};  // JobSpec::options
};

struct JobCounts {
  std::int64_t queued = 0, running = 0, done = 0, dead = 0, cancelled = 0, held = 0;
  std::int64_t total() const { return queued + running + done + dead + cancelled + held; }
};

}  // namespace tutti
