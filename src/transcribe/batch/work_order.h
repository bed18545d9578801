#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "balance/queue_rank.h"
#include "base/clock.h"
#include "jobs/job.h"
#include "transcribe/pool/pool_job.h"

namespace tutti {

/// In which order a batch's jobs are claimed: by the rank that their windows have on the devices
/// (balance/queue_rank.h). Pure; not thread-safe.
class WorkOrder {
 public:
  explicit WorkOrder(Policy policy) : options_{.policy = policy} {}

  void add(const PoolJob& job) {
    const auto id = static_cast<JobId>(job.id);
    ready_.insert({queue_rank_of(job.facts(), job.audio, arrivals_, options_), arrivals_, id});
    ++arrivals_;
  }
  /// Before all others: there is nothing to be done but to say so.
  void add_first(JobId job) {
    ready_.insert(Entry{{.rank = std::numeric_limits<std::int64_t>::min()}, arrivals_++, job});
  }
  /// Not before that moment.
  void add_later(const PoolJob& job, Clock::Instant when) { later_.insert({when, job}); }

  /// The first one whose time has come.
  std::optional<JobId> take(Clock::Instant now) {
    while (!later_.empty() && later_.begin()->first <= now) {
      add(later_.begin()->second);
      later_.erase(later_.begin());
    }
    if (ready_.empty()) return {};
    return ready_.extract(ready_.begin()).value().job;
  }
  /// Those that `take` would yield next, at most `most`.
  std::vector<JobId> next(std::size_t most) const {
    std::vector<JobId> jobs;
    for (const Entry& entry : ready_) {
      if (jobs.size() == most) break;
      jobs.push_back(entry.job);
    }
    return jobs;
  }
  /// When `take` may yield something although nothing was added; at once while something is ready.
  std::optional<Clock::Instant> wake_at(Clock::Instant now) const {
    if (!ready_.empty()) return now;
    if (later_.empty()) return {};
    return later_.begin()->first;
  }
  std::size_t size() const { return ready_.size() + later_.size(); }
  std::size_t ready() const { return ready_.size(); }

 private:
  struct Entry {
    QueueRank turn{};
    std::uint64_t arrival = 0;
    JobId job = 0;
    auto operator<=>(const Entry&) const = default;
  };

  DispatcherOptions options_;
  std::uint64_t arrivals_ = 0;
  std::set<Entry> ready_;
  std::multimap<Clock::Instant, PoolJob> later_;
};

}  // namespace tutti
