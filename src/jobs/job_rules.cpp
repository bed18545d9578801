#include "jobs/job_rules.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace tutti {

RequestDecision decide_request(const Job* known, const JobSpec& requested) {
  if (!known) return {.what = Submitted::What::added, .spec = requested};
  const JobSpec& old = known->spec;
  RequestDecision decision{.spec = requested};
  if (is_same_work(old, requested)) {  // its name and urgency are those of the latest request
    decision.what = Submitted::What::kept;
    decision.spec.identity = old.identity;
    decision.spec.audio = old.audio;
    decision.spec.length = old.length;
    return decision;
  }
  const bool was_done = known->state == JobState::done;
  decision.what = Submitted::What::renewed;
  decision.keeps_digest = old.input == requested.input && is_unchanged(old.identity, requested.identity);
  decision.offers_result = was_done && old.options == requested.options;
  if (was_done && old.input != requested.input) decision.was = old.input;
  return decision;
}

ClaimRank claim_rank(const JobSpec& spec, StoreTime submitted) {
  constexpr double kUsualLength = 40 * 60;
  const double audio = spec.audio ? spec.audio->count() : kUsualLength;
  const std::int64_t period = rounded_up(submitted.time_since_epoch().count(), kAgeing.count());
  ClaimRank rank{.aged_from = StoreTime(std::chrono::milliseconds(period) - spec.priority * kAgeing)};
  if (spec.job_class == JobClass::interactive) {
    rank.due = spec.deadline ? spec.deadline->time_since_epoch().count() : std::numeric_limits<std::int64_t>::max();
    rank.size = audio;
  }
  if (spec.job_class == JobClass::batch) rank.size = -audio;
  return rank;
}

bool is_claimable(const Job& job, const ClaimRequest& request, StoreTime now) {
  return job.state == JobState::queued && job.not_before <= now && job.waits_for == 0 &&
         (request.jobs.empty() || std::ranges::find(request.jobs, job.id) != request.jobs.end()) &&
         (request.batch.empty() || request.batch == job.spec.batch) && job.spec.job_class <= request.most &&
         (request.not_failed_on.empty() || request.not_failed_on != job.failed_on);
}

ContentCheck decide_content(JobId job, const std::string& sha256, const std::string& offered, const Twins& twins) {
  if (!sha256.empty() && offered == sha256) return {.what = ContentCheck::What::copy, .same_as = job};
  if (twins.done != 0) return {.what = ContentCheck::What::copy, .same_as = twins.done};
  if (twins.running != 0) return {.what = ContentCheck::What::wait, .same_as = twins.running};
  return {};
}

Job after_release(Job job) {
  job.state = job.cancel_requested ? JobState::cancelled : JobState::queued;
  job.cancel_requested = false;
  job.progress = 0;
  return job;
}

FailedJob after_failure(Job job, FailureClass kind, const std::string& device, StoreTime now, double dice,
                        const RetryRules& rules) {
  const RetryHistory history{job.strikes, job.device_failures, job.memory_failures};
  const RetryDecision decision = decide_retry(kind, history, dice, rules);
  const bool forgiven = decision.again && !decision.counted;
  job.state = job.cancel_requested ? JobState::cancelled : decision.again ? JobState::queued : JobState::dead;
  job.strikes += decision.counted ? 1 : 0;
  job.device_failures += forgiven && kind == FailureClass::device ? 1 : 0;
  job.memory_failures += forgiven && kind == FailureClass::out_of_memory ? 1 : 0;
  job.not_before = now + decision.wait;
  job.failed_on = device.empty() ? job.device : device;
  job.cancel_requested = false;
  job.progress = 0;
  return {std::move(job), decision.wait};
}

std::optional<AttemptEnd> reaped_as(bool owner_has_gone, bool lease_is_over) {
  if (owner_has_gone) return AttemptEnd::orphaned;
  if (lease_is_over) return AttemptEnd::expired;
  return {};
}

}  // namespace tutti
