#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/retry.h"

namespace tutti {

/// How long a claim is good for without renewal, and how often to renew it.
inline constexpr std::chrono::milliseconds kLeaseLength{60'000};
inline constexpr std::chrono::milliseconds kRenewEvery{20'000};

/// The right to work on a job. Every call of its holder to the store carries it. A holder that was too slow learns from
/// the answer that it lost the job, and then must stop, remove what it wrote and publish nothing.
struct LeaseKey {
  JobId job = 0;
  std::string token{};  // a random_token(); never given twice
};

struct ClaimRequest {
  std::string device{};  // where it will run, for the record; "" when not known yet
  /// The first of these, in this order, for a batch, whose balance knows the devices; empty: the first of all, for a
  /// caller that knows no more than the store. Its order: class; then priority, plus one for every ten minutes of
  /// waiting; then, of interactive jobs the earliest deadline and the shortest, of a batch's the longest; then the
  /// first requested.
  std::vector<JobId> jobs{};
  std::string batch{};              // only of this batch; empty: of any
  JobClass most = JobClass::batch;  // the least urgent class that counts
  std::string not_failed_on{};      // leave out jobs whose latest attempt failed on this device; empty: none left out
  std::chrono::milliseconds length = kLeaseLength;
};

struct Lease {
  LeaseKey key{};
  Job job{};
  int attempt = 0;
  StoreTime until{};
  /// A whole result of the same content and options: to be copied instead of computed again.
  std::vector<JobOutput> same_outputs{};
};

/// A heartbeat for a lease.
struct Renewal {
  LeaseKey key{};
  double progress = 0;  // 0..1
  std::chrono::milliseconds length = kLeaseLength;
};

enum class LeaseStanding {
  held,
  cancel,  // held, but the job is to be stopped: call `cancelled`
  lost     // another process has it now, or none
};

/// What an attempt used, for history.
struct AttemptUse {
  std::string device{};  // where most of it ran; empty: as claimed
  Seconds audio{};       // length of the input, measured
  Seconds busy{};        // busy time of the device
};

struct Failure {
  FailureClass kind = FailureClass::transient;
  std::string reason{};  // for people: what happened, with its evidence
  AttemptUse use{};
};

/// What became of a job that failed.
struct AfterFailure {
  bool held = true;  // false: the lease was lost before, and the failure counts against no job
  JobState state = JobState::queued;
  std::chrono::milliseconds wait{};  // queued: not before so long from now
};

/// What to do with an input whose content is known now.
struct ContentCheck {
  enum class What {
    unique,  // go on
    copy,    // `same_outputs` hold the result: copy them instead
    wait,    // another job with this content is in work; this one was released and is claimable when that one ends
    lost     // the lease is
  };
  What what = What::unique;
  JobId same_as = 0;  // the job itself: the file was touched, and its content is what it was
  std::vector<JobOutput> same_outputs{};
};

}  // namespace tutti
