#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"

namespace tutti {

/// What a thread of a stage is doing.
enum class Activity {
  busy,     ///< in the stage's own function
  starved,  ///< waiting for input
  blocked,  ///< waiting for space in the output, or for its turn in an ordered one
};

/// Time of all threads a stage ever had, by activity. The three add up to the time the threads lived.
struct StageTimes {
  std::chrono::nanoseconds busy{};
  std::chrono::nanoseconds starved{};
  std::chrono::nanoseconds blocked{};

  std::chrono::nanoseconds lived() const { return busy + starved + blocked; }
  std::chrono::nanoseconds& of(Activity activity);
  StageTimes& operator+=(const StageTimes& other);
  /// Since an earlier reading of the same clocks.
  StageTimes since(const StageTimes& before) const;
};

/// How many threads are doing what right now.
struct StageThreads {
  int busy = 0;
  int starved = 0;
  int blocked = 0;
  int all() const { return busy + starved + blocked; }
};

/// One thread's time. The thread turns it, any thread reads it. Turning costs a clock reading and an uncontended lock.
class ThreadClock {
 public:
  ThreadClock(const Clock& clock, Activity first) : clock_(&clock), state_(State{{}, first, clock.now()}) {}

  /// From now on the thread does `next`. Returns how long it did what it did before.
  std::chrono::nanoseconds turn(Activity next);
  /// Times until now, the running activity included.
  StageTimes times() const;
  Activity activity() const;

 private:
  struct State {
    StageTimes spent;
    Activity activity = Activity::starved;
    Clock::Instant since{};
  };
  const Clock* clock_;
  Guarded<State> state_;
};

/// The clocks of all threads of a stage; keeps the time of threads that have left.
class StageClocks {
 public:
  explicit StageClocks(const Clock& clock) : clock_(&clock) {}

  std::shared_ptr<ThreadClock> enter(Activity first);
  void leave(const std::shared_ptr<ThreadClock>& thread);

  StageTimes times() const;
  StageThreads threads() const;

 private:
  struct State {
    std::vector<std::shared_ptr<ThreadClock>> present;
    StageTimes gone;
  };
  const Clock* clock_;
  Guarded<State> state_;
};

}  // namespace tutti
