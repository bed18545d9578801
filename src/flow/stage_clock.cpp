#include "flow/stage_clock.h"

#include <algorithm>

namespace tutti {

std::chrono::nanoseconds& StageTimes::of(Activity activity) {
  switch (activity) {
    case Activity::busy: return busy;
    case Activity::starved: return starved;
    case Activity::blocked: break;
  }
  return blocked;
}

StageTimes& StageTimes::operator+=(const StageTimes& other) {
  busy += other.busy;
  starved += other.starved;
  blocked += other.blocked;
  return *this;
}

StageTimes StageTimes::since(const StageTimes& before) const {
  // What is corrected from outside may go back by the time between two readings.
  constexpr std::chrono::nanoseconds kNone{};
  return {std::max(busy - before.busy, kNone), std::max(starved - before.starved, kNone),
          std::max(blocked - before.blocked, kNone)};
}

std::chrono::nanoseconds ThreadClock::turn(Activity next) {
  return state_.with([&](State& state) {
    const auto now = clock_->now();
    const auto passed = now - state.since;
    state.spent.of(state.activity) += passed;
    state.activity = next;
    state.since = now;
    return passed;
  });
}

StageTimes ThreadClock::times() const {
  return state_.with([&](const State& state) {
    StageTimes times = state.spent;
    // Read under the lock: a reading from before it could precede `since`.
    times.of(state.activity) += clock_->now() - state.since;
    return times;
  });
}

Activity ThreadClock::activity() const {
  return state_.with([](const State& state) { return state.activity; });
}

std::shared_ptr<ThreadClock> StageClocks::enter(Activity first) {
  auto thread = std::make_shared<ThreadClock>(*clock_, first);
  state_.with([&](State& state) { state.present.push_back(thread); });
  return thread;
}

void StageClocks::leave(const std::shared_ptr<ThreadClock>& thread) {
  state_.with([&](State& state) {
    state.gone += thread->times();
    std::erase(state.present, thread);
  });
}

StageTimes StageClocks::times() const {
  return state_.with([](const State& state) {
    StageTimes sum = state.gone;
    for (const auto& thread : state.present) sum += thread->times();
    return sum;
  });
}

StageThreads StageClocks::threads() const {
  return state_.with([](const State& state) {
    StageThreads now;
    for (const auto& thread : state.present) {
      switch (thread->activity()) {
        case Activity::busy: ++now.busy; break;
        case Activity::starved: ++now.starved; break;
        case Activity::blocked: ++now.blocked; break;
      }
    }
    return now;
  });
}

}  // namespace tutti
