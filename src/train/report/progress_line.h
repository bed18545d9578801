#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "train/trainer.h"

namespace tutti {

/// What the line shows of a training.
struct ProgressFacts {
  std::int64_t step = 0;
  std::int64_t steps = 0;  // in all, as far as can be known; 0: not known
  std::int64_t epoch = 0;
  double loss = 0;  // smoothed
  double rate = 0;
  double samples_per_second = 0;
  double seconds_left = 0;  // 0: not known
};

/// "step 120/400 · epoch 2 · loss 0.482 · rate 0.0003 · 41 samples/s · 0:42 left · MACHINE".
std::string progress_text(const ProgressFacts& facts, const std::string& machine);

/// Shows one line on standard error: repainted on a terminal, else now and then. One thread.
class ProgressLine {
 public:
  /// most_time: from now on, in which the training ends whatever the steps; 0: no such end. `clock` outlives it.
  explicit ProgressLine(std::int32_t every, Seconds most_time = Seconds(0), const Clock& clock = Clock::real());
  void stepped(const StepReport& step, const std::string& machine);
  /// Ends a line that was being repainted, so that other output may follow.
  void end();

 private:
  double seconds_left(std::int64_t steps_left, Clock::Instant now) const;

  std::int32_t every_;
  Seconds most_time_;
  const Clock& clock_;
  Clock::Instant begun_;
  bool terminal_;
  bool open_ = false;
  Clock::Instant shown_{};
  std::optional<Clock::Instant> stepped_{};  // when it last was
  double between_ = 0;                       // seconds that were no steps since the first one: evaluations, checkpoints
  double loss_ = 0;
  double step_seconds_ = 0;  // smoothed
  double samples_ = 0;       // per step, smoothed
  std::int64_t seen_ = 0;
};

}  // namespace tutti
