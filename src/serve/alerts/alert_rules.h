#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "jobs/job.h"

namespace tutti {

struct AlertLimits {
  /// A job in work without progress, or a queue of which nothing is in work, for so long. Shorter than a long
  /// recording's decoding takes: alerts about healthy jobs.
  Seconds stuck{1800};
  /// Share of failures among the jobs that ended within the last hour. Above it there is an alert.
  double failures = 0.2;
  /// Fewer ended jobs in that hour are no share to go by.
  std::int64_t least_ended = 5;
};

/// That something is wrong, or not any more.
struct Alert {
  std::string rule{};         // "job_stuck", "queue_stuck" or "failures"
  bool firing = true;         // false: it is over
  std::string text{};         // for people
  std::vector<JobId> jobs{};  // jobs of job_stuck, twenty at most
  bool operator==(const Alert&) const = default;
};

/// Decides about alerts by what is seen of a store from time to time: plain data in, alerts out. Each is returned once
/// when it begins, once an hour while it lasts, and once when it is over. Not thread-safe.
class AlertRules {
 public:
  explicit AlertRules(AlertLimits limits) : limits_(limits) {}

  /// What ended before the first look, as far as the store has it: `age` ago.
  void add_ended(Seconds now, Seconds age, std::int64_t done, std::int64_t failed);

  /// `now`: of a clock that never goes back. `counts`: of all jobs. `running`: the jobs in work. `may_begin`: one of
  /// those that wait could be begun; false where all of them wait for the time of their next try.
  std::vector<Alert> look(Seconds now, const JobCounts& counts, const std::vector<Job>& running, bool may_begin);

 private:
  /// Since when a job in work is as it is.
  struct Progress {
    int attempt = 0;
    double share = 0;
    Seconds since{};
  };
  /// Jobs that ended between two looks.
  struct Ended {
    Seconds at{};
    std::int64_t done = 0;
    std::int64_t failed = 0;
  };

  Alert stuck_jobs(Seconds now, const std::vector<Job>& running);
  Alert stuck_queue(Seconds now, const JobCounts& counts, bool may_begin);
  Alert failed_jobs(Seconds now, const JobCounts& counts);

  const AlertLimits limits_;
  std::map<JobId, Progress> progress_{};
  std::optional<Seconds> idle_since_{};  // jobs wait, and none is in work
  std::optional<JobCounts> before_{};
  std::deque<Ended> ended_{};
  std::map<std::string, Seconds> firing_{};  // by rule: when it was reported last
};

}  // namespace tutti
