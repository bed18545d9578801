#include "balance/turn.h"

#include <cmath>
#include <limits>

namespace tutti {
namespace {

int step_of(ServiceClass kind) {
  switch (kind) {
    case ServiceClass::interactive: return 2;
    case ServiceClass::normal: return 1;
    case ServiceClass::batch: return 0;
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
    case ServiceClass::interactive:
      turn.first = facts.deadline ? facts.deadline->count() : std::numeric_limits<double>::infinity();
      turn.second = audio.count();
      break;
    case ServiceClass::normal: turn.first = arrived; break;
    case ServiceClass::batch:
      turn.first = -audio.count();
      turn.second = arrived;
      break;
  }
  return turn;
}

}  // namespace tutti
