#include "flow/stage.h"

#include <chrono>
#include <utility>

#include "base/units.h"

namespace tutti {
namespace {

constexpr std::chrono::microseconds kShortest{5};  // that a trace shows: handing an item on takes as long

}  // namespace

Stage::Stage(Plan plan, Failures& failures, const Clock& clock, VirtualSpeedup* speedup)
    : name_(std::move(plan.name)),
      options_(plan.options),
      is_source_(plan.is_source),
      output_(std::move(plan.output)),
      set_queue_(std::move(plan.set_queue)),
      failures_(failures),
      speedup_(speedup),
      clocks_(clock),
      crew_(
          [this, loop = std::move(plan.loop)](Crew& crew) {
            Worker me(*this, crew);
            loop(me);
          },
          options_.threads, {.nudge = std::move(plan.nudge_input), .failed = [this](const std::exception_ptr&) {
                               failures_.stop(error_of_exception(name_));
                             }}) {}

StageReport Stage::report() const {
  StageReport report{.name = name_,
                     .threads = clocks_.threads(),
                     .times = clocks_.times(),
                     .items_in = items_in_.load(std::memory_order_relaxed),
                     .items_out = items_out_.load(std::memory_order_relaxed),
                     .failed = failed_.load(std::memory_order_relaxed),
                     .service = service_.snapshot(),
                     .output = {}};
  if (output_) report.output = output_();
  return report;
}

Worker::Worker(Stage& stage, Crew& crew)
    : stage_(stage),
      crew_(crew),
      activity_(stage.is_source_ ? Activity::busy : Activity::starved),
      clock_(stage.clocks_.enter(activity_)),
      row_(EventTrace::row_of_process(stage.name_)),
      since_(row_ ? Clock::real().now() : Clock::Instant()) {
  if (stage_.speedup_ && activity_ == Activity::busy) begin_work();
}

void Worker::begin_work() {
  VirtualSpeedup& speedup = *stage_.speedup_;
  if (stage_.name_ == speedup.stage) hold_.emplace(speedup.clock);
  work_since_ = speedup.clock.now();
  work_began_ = Clock::real().now();
}

/// In the other run the work of a stage that is not sped up takes as long as in this one.
void Worker::end_work() {
  if (!hold_) stage_.speedup_->clock.sleep_until(work_since_ + (Clock::real().now() - work_began_));
  hold_.reset();
}

/// A slice of what the thread did until now. Waits for input are the gaps between slices.
void Worker::trace() {
  const auto now = Clock::real().now();
  if (activity_ != Activity::starved && now - since_ >= kShortest)
    row_->slice(activity_ == Activity::busy ? std::string_view(stage_.name_) : "waits for space", since_, now);
  since_ = now;
}

void Worker::turn(Activity next) {
  if (next == activity_) return;
  if (row_) trace();
  const auto passed = clock_->turn(next);
  if (activity_ == Activity::busy) {
    busy_on_item_ += passed;
    if (stage_.speedup_) end_work();
  }
  activity_ = next;
  if (stage_.speedup_ && next == Activity::busy) begin_work();
}

void Worker::count_done() {
  if (activity_ == Activity::busy) busy_on_item_ += clock_->turn(activity_);
  stage_.service_.record(Seconds(std::exchange(busy_on_item_, {})).count());
}

bool Worker::survives(Error error) {
  stage_.failed_.fetch_add(1, std::memory_order_relaxed);
  if (stage_.options_.on_error == OnError::skip) {
    stage_.failures_.skip({stage_.name_, std::move(error)});
    return true;
  }
  stage_.failures_.stop(std::move(error));
  return false;
}

}  // namespace tutti
