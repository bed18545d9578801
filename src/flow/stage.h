#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "flow/crew.h"
#include "flow/failures.h"
#include "flow/report.h"
#include "flow/stage_clock.h"
#include "flow/virtual_clock.h"
#include "metrics/event_trace.h"
#include "metrics/histogram.h"

namespace tutti {

/// In which order a stage of several threads hands its items on.
enum class Order {
  completion,  ///< as they are ready: one slow item does not delay the others
  input,       ///< as they came in; a slow item lets at most `window` later ones be finished before it
};

struct StageOptions {
  int threads = 1;                   ///< at least 1; a source always has one
  OnError on_error = OnError::stop;  ///< an exception is an error like any other
  Order order = Order::completion;   ///< Order::input costs some locking per item
  std::size_t window = 16;           ///< for Order::input: finished items that may wait for an earlier one; held memory
  QueueLimits output{};              ///< limits of the queue behind the stage; a byte bound needs a size function
};

class Worker;

/// One step of a pipeline: a loop, the threads that run it, and its numbers. Thread-safe.
class Stage {
 public:
  using Loop = std::function<void(Worker&)>;

  /// What a stage is made of; the loop holds the channel ends.
  struct Plan {
    std::string name;
    StageOptions options;
    bool is_source = false;
    Loop loop;
    std::function<void()> nudge_input{};
    std::function<QueueLevel()> output{};
    std::function<void(std::size_t items)> set_queue{};  ///< of the queue behind it; empty: there is none
  };

  /// `speedup` is the experiment that the pipeline is part of; nullptr: none.
  Stage(Plan plan, Failures& failures, const Clock& clock, VirtualSpeedup* speedup);

  const std::string& name() const { return name_; }
  bool is_source() const { return is_source_; }
  void start() { crew_.start(); }
  void resize(int threads) { crew_.resize(threads); }
  bool has_queue() const { return static_cast<bool>(set_queue_); }
  /// Needs `has_queue`.
  void set_queue(std::size_t items) const { set_queue_(items); }
  bool is_over() const { return crew_.is_over(); }
  void join() { crew_.join(); }
  StageReport report() const;

 private:
  friend class Worker;

  const std::string name_;
  const StageOptions options_;
  const bool is_source_;
  const std::function<QueueLevel()> output_;
  const std::function<void(std::size_t)> set_queue_;
  Failures& failures_;
  VirtualSpeedup* const speedup_;
  StageClocks clocks_;
  std::atomic<std::uint64_t> items_in_ = 0;
  std::atomic<std::uint64_t> items_out_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  Histogram service_;
  Crew crew_;  // last: its threads use all of the above
};

/// One thread of a stage, as the stage's loop sees it. Belongs to that thread.
class Worker {
 public:
  Worker(Stage& stage, Crew& crew);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { stage_.clocks_.leave(clock_); }

  const std::string& stage_name() const { return stage_.name_; }
  /// From now on the thread does `next`.
  void turn(Activity next);

  bool is_surplus() const { return crew_.is_too_many(); }
  /// True lets this thread go: its loop returns at once.
  bool may_leave() { return crew_.may_leave(); }

  void count_in() { stage_.items_in_.fetch_add(1, std::memory_order_relaxed); }
  void count_out() { stage_.items_out_.fetch_add(1, std::memory_order_relaxed); }
  /// The item is dealt with: its busy time goes into the stage's service times.
  void count_done();

  /// Deals with an error by the stage's policy. False: the loop returns.
  bool survives(Error error);

 private:
  void trace();
  void begin_work();
  void end_work();

  Stage& stage_;
  Crew& crew_;
  Activity activity_;
  std::shared_ptr<ThreadClock> clock_;
  std::chrono::nanoseconds busy_on_item_{};
  std::unique_ptr<EventTrace::Row> row_;  // of the process's trace; none: there is none
  Clock::Instant since_{};                // when `activity_` began, where there is a row
  // Of an experiment, since the thread became busy:
  std::optional<VirtualClock::Hold> hold_{};  // where its stage is the one that is sped up
  Seconds work_since_{};                      // by the experiment's clock
  Clock::Instant work_began_{};
};

}  // namespace tutti
