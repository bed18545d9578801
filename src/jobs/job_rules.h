#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "jobs/job.h"
#include "jobs/job_queue.h"
#include "jobs/lease.h"
#include "jobs/retry.h"

namespace tutti {

// The rules of jobs, as pure functions. A store carries them out, each in one transaction: it reads what a rule decides
// by, and writes what it decided. Where a query selects jobs, its condition is the rule's.

// ---- requested

/// What a request does to what is stored under its key.
struct RequestDecision {
  Submitted::What what = Submitted::What::added;
  JobSpec spec{};              // as it is stored from now on
  bool keeps_digest = false;   // renewed: the input is the same file, whose content is known already
  bool offers_result = false;  // renewed: its result is kept, for the case that only the file's date has changed
  std::string was{};           // Submitted::was
};
/// `known`: the job of that key; null: there is none.
RequestDecision decide_request(const Job* known, const JobSpec& requested);

// ---- claimed

/// So much waiting counts as one priority.
inline constexpr std::chrono::milliseconds kAgeing{600'000};

/// A job's rank among those of its class: the smallest is claimed first; of equal ones the one submitted first, then
/// the one with the smaller id.
struct ClaimRank {
  /// When, of two jobs, the one waits as urgently as the other: the static form of priority plus one for every period
  /// of waiting. Whole periods, as balance/queue_rank.h has them: what was requested within one is a tie, which
  /// deadline and size decide. A list of a hundred thousand, requested in portions, is one queue so (two, where a
  /// period ends meanwhile).
  StoreTime aged_from{};
  /// Earliest deadline, then shortest, for interactive jobs; longest first for a batch's; normal ones are all alike. An
  /// unknown length counts as forty minutes.
  std::int64_t due = 0;
  double size = 0;
  auto operator<=>(const ClaimRank&) const = default;
};
ClaimRank claim_rank(const JobSpec& spec, StoreTime submitted);

/// Whether a request may have this job now.
bool is_claimable(const Job& job, const ClaimRequest& request, StoreTime now);

// ---- held

/// The answer to a renewal. `holds`: the job is running under the token of the renewal.
inline LeaseStanding standing_of(bool holds, bool cancel_requested) {
  if (!holds) return LeaseStanding::lost;
  return cancel_requested ? LeaseStanding::cancel : LeaseStanding::held;
}

/// Other jobs with the content and the options of one; 0: there is none.
struct Twins {
  JobId done = 0;
  JobId running = 0;
};
/// What becomes of a held job whose content has become known, with ContentCheck::same_as. `offered`: the content that
/// the result which it still has is of. Only a job at work is worth waiting for: one that waits itself is queued, so
/// jobs never wait in a circle.
ContentCheck decide_content(JobId job, const std::string& sha256, const std::string& offered, const Twins& twins);

// ---- ended

/// The job after its lease was released: queued again, or cancelled where that was requested.
Job after_release(Job job);
/// The job after a failure; `device`: where it failed, empty: where it was claimed for. `dice` as in decide_retry.
struct FailedJob {
  Job job{};
  std::chrono::milliseconds wait{};  // until it is claimable again
};
FailedJob after_failure(Job job, FailureClass kind, const std::string& device, StoreTime now, double dice,
                        const RetryRules& rules);

/// How a running job that is looked at ends; none: it goes on. An owner that went (kill -9, a crash of ours, power) is
/// no fault of the job: decoding and tensors run in processes of their own. One that is alive and does not renew may
/// hang on the job: that counts.
std::optional<AttemptEnd> reaped_as(bool owner_has_gone, bool lease_is_over);

// ---- steered: the states in which a job can be

inline constexpr std::array kCancellable{JobState::queued, JobState::held};  // a running one is stopped by its holder
inline constexpr std::array kHoldable{JobState::queued};
inline constexpr std::array kResumable{JobState::held};
inline constexpr std::array kRetriable{JobState::dead, JobState::cancelled};
inline constexpr std::array kRedoable{JobState::done};
inline constexpr std::array kForgettable{JobState::done, JobState::dead, JobState::cancelled};

}  // namespace tutti
