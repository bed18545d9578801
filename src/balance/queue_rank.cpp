#include "balance/queue_rank.h"

#include <cmath>
#include <limits>

namespace tutti {
namespace {

int step_of(JobClass kind) {
  switch (kind) {
    case JobClass::interactive: return 2;
    case JobClass::normal: return 1;
    case JobClass::batch: return 0;
  }
  return 0;
}

}  // namespace

QueueRank queue_rank_of(const JobFacts& facts, Seconds audio, std::uint64_t arrival, const DispatcherOptions& options) {
  const auto arrived = static_cast<double>(arrival);
  if (options.policy != Policy::tutti) return {.first = arrived};
  // Rounded up: of what waited before second 0, only whole periods count.
  const auto waits_from = static_cast<std::int64_t>(std::ceil(facts.queued_at / options.ageing));
  QueueRank rank{.rank = waits_from - step_of(facts.kind) * options.class_step - facts.priority};
  switch (facts.kind) {
    case JobClass::interactive:
      rank.first = facts.deadline ? facts.deadline->count() : std::numeric_limits<double>::infinity();
      rank.second = audio.count();
      break;
    case JobClass::normal: rank.first = arrived; break;
    case JobClass::batch:
      rank.first = -audio.count();
      rank.second = arrived;
      break;
  }
  return rank;
}

}  // namespace tutti
