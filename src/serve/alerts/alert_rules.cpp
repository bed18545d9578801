#include "serve/alerts/alert_rules.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr Seconds kHour{3600};
constexpr std::size_t kMostNamed = 20;

std::string minutes_text(Seconds time) {
  const auto minutes = std::lround(time.count() / 60);
  return minutes == 1 ? "1 minute" : std::to_string(minutes) + " minutes";
}

std::string jobs_text(std::size_t count) {
  return count == 1 ? "1 job" : std::to_string(count) + " jobs";
}

}  // namespace

void AlertRules::add_ended(Seconds now, Seconds age, std::int64_t done, std::int64_t failed) {
  ended_.push_back({.at = now - age, .done = done, .failed = failed});
  std::ranges::sort(ended_, {}, &Ended::at);
}

std::vector<Alert> AlertRules::look(Seconds now, const JobCounts& counts, const std::vector<Job>& running,
                                    bool may_begin) {
  std::vector<Alert> due;
  for (Alert& alert :
       std::vector{stuck_jobs(now, running), stuck_queue(now, counts, may_begin), failed_jobs(now, counts)}) {
    const auto reported = firing_.find(alert.rule);
    const bool was_firing = reported != firing_.end();
    if (alert.firing == was_firing && (!was_firing || now - reported->second < kHour)) continue;
    if (alert.firing)
      firing_[alert.rule] = now;
    else
      firing_.erase(reported);
    due.push_back(std::move(alert));
  }
  return due;
}

Alert AlertRules::stuck_jobs(Seconds now, const std::vector<Job>& running) {
  std::map<JobId, Progress> progress;
  Alert alert{.rule = "job_stuck", .firing = false};
  std::size_t stuck = 0;
  std::string first;
  for (const Job& job : running) {
    Progress current{.attempt = job.attempts, .share = job.progress, .since = now};
    const auto before = progress_.find(job.id);
    if (before != progress_.end() && before->second.attempt == current.attempt && before->second.share == current.share)
      current.since = before->second.since;
    progress[job.id] = current;
    if (now - current.since <= limits_.stuck) continue;
    if (stuck++ == 0)
      first = job.spec.name + " (job " + std::to_string(job.id) + ") for " + minutes_text(now - current.since);
    if (alert.jobs.size() < kMostNamed) alert.jobs.push_back(job.id);
  }
  progress_ = std::move(progress);
  alert.firing = stuck > 0;
  alert.text = alert.firing ? jobs_text(stuck) + " in work without progress; first " + first
                            : "every job in work makes progress again, or has ended";
  return alert;
}

Alert AlertRules::stuck_queue(Seconds now, const JobCounts& counts, bool may_begin) {
  if (counts.queued == 0 || counts.running > 0 || !may_begin)
    idle_since_.reset();
  else if (!idle_since_)
    idle_since_ = now;
  const bool firing = idle_since_ && now - *idle_since_ > limits_.stuck;
  return {.rule = "queue_stuck",
          .firing = firing,
          .text = firing ? jobs_text(static_cast<std::size_t>(counts.queued)) + " waiting, and none in work for " +
                               minutes_text(now - *idle_since_)
                         : "jobs that wait are begun again, or none waits"};
}

Alert AlertRules::failed_jobs(Seconds now, const JobCounts& counts) {
  if (before_) {
    // Counts fall where jobs are tried again or removed: those have not ended.
    const auto more = [](std::int64_t is, std::int64_t was) { return std::max<std::int64_t>(0, is - was); };
    const Ended ended{.at = now, .done = more(counts.done, before_->done), .failed = more(counts.dead, before_->dead)};
    if (ended.done + ended.failed > 0) ended_.push_back(ended);
  }
  before_ = counts;
  while (!ended_.empty() && now - ended_.front().at > kHour) ended_.pop_front();
  std::int64_t all = 0, failed = 0;
  for (const Ended& ended : ended_) {
    all += ended.done + ended.failed;
    failed += ended.failed;
  }
  const bool firing =
      all >= limits_.least_ended && static_cast<double>(failed) > limits_.failures * static_cast<double>(all);
  const std::string share =
      std::to_string(failed) + " of the " + std::to_string(all) + " jobs that ended within an hour";
  return {.rule = "failures", .firing = firing, .text = firing ? share + " failed" : "only " + share + " failed"};
}

}  // namespace tutti
