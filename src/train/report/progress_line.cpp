#include "train/report/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "view/text.h"

namespace tutti {
namespace {

constexpr double kMemory = 0.95;  // share of a smoothed number that a step keeps
constexpr Seconds kRepaint{0.2};

/// Begins at the first value instead of at 0.
void smooth(double& mean, double value, std::int64_t seen) {
  const double memory = std::min(kMemory, static_cast<double>(seen) / static_cast<double>(seen + 1));
  if (std::isfinite(value)) mean = memory * mean + (1 - memory) * value;
}

}  // namespace

std::string progress_text(const ProgressFacts& f, const std::string& machine) {
  std::ostringstream text;
  text << "step " << f.step;
  if (f.steps > 0) text << "/" << f.steps;
  text << " | epoch " << f.epoch + 1 << " | loss " << short_number(f.loss) << " | rate " << std::setprecision(3)
       << f.rate << " | " << short_number(f.samples_per_second) << " samples/s";
  if (f.seconds_left > 0) text << " | " << length_text(Seconds(f.seconds_left)) << " left";
  if (!machine.empty()) text << " | " << machine;
  return text.str();
}

ProgressLine::ProgressLine(std::int32_t every, Seconds most_time, const Clock& clock)
    : every_(every),
      most_time_(most_time),
      clock_(clock),
      begun_(clock.now()),
      terminal_(::isatty(STDERR_FILENO) != 0) {}

/// Until the steps are done or the time is over, whichever is first; what came between steps so far will come again.
/// steps_left below 0: not known.
double ProgressLine::seconds_left(std::int64_t steps_left, Clock::Instant now) const {
  const double a_step = step_seconds_ + between_ / static_cast<double>(seen_);
  const double by_steps = static_cast<double>(std::max<std::int64_t>(0, steps_left)) * a_step;
  if (most_time_ <= Seconds(0)) return by_steps;
  const double by_time = std::max(0.0, (most_time_ - Seconds(now - begun_)).count());
  return steps_left >= 0 ? std::min(by_steps, by_time) : by_time;
}

void ProgressLine::stepped(const StepReport& step, const std::string& machine) {
  smooth(loss_, step.outcome.loss, seen_);
  smooth(step_seconds_, step.seconds, seen_);
  smooth(samples_, static_cast<double>(step.outcome.samples), seen_);
  ++seen_;
  const auto now = clock_.now();
  if (stepped_) between_ += std::max(0.0, Seconds(now - *stepped_).count() - step.seconds);
  stepped_ = now;
  const bool due = terminal_ ? now - shown_ >= kRepaint : step.state.step % every_ == 0;
  if (!due) return;
  shown_ = now;
  const auto steps = step.steps > 0 ? std::max(step.steps, step.state.step) : 0;
  const auto text = progress_text({.step = step.state.step,
                                   .steps = steps,
                                   .epoch = step.state.epoch,
                                   .loss = loss_,
                                   .rate = step.rate,
                                   .samples_per_second = step_seconds_ > 0 ? samples_ / step_seconds_ : 0,
                                   .seconds_left = seconds_left(steps > 0 ? steps - step.state.step : -1, now)},
                                  machine);
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
  open_ = terminal_;
}

void ProgressLine::end() {
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

}  // namespace tutti
