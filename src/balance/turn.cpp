#include "balance/turn.h"

#include <cmath>
#include <limits>

namespace tutti {
namespace {

int step_of(TaskClass kind) {
  switch (kind) {
    case TaskClass::interactive: return 2;
    case TaskClass::normal: return 1;
    case TaskClass::batch: return 0;
  }
  return 0;
}

}  // namespace

Turn turn_of(const TaskFacts& facts, Seconds audio, std::uint64_t arrival, const DispatcherOptions& options) {
  const auto arrived = static_cast<double>(arrival);
  if (options.policy != Policy::tutti) return {.first = arrived};
  // Rounded up: of what waited before second 0, only whole periods count.
  const auto waits_from = static_cast<std::int64_t>(std::ceil(facts.queued_at / options.ageing));
  Turn turn{.rank = waits_from - step_of(facts.kind) * options.class_step - facts.priority};
  switch (facts.kind) {
    case TaskClass::interactive:
      turn.first = facts.deadline ? facts.deadline->count() : std::numeric_limits<double>::infinity();
      turn.second = audio.count();
      break;
    case TaskClass::normal: turn.first = arrived; break;
    case TaskClass::batch:
      turn.first = -audio.count();
      turn.second = arrived;
      break;
  }
  return turn;
}

}  // namespace tutti
