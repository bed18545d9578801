#include "profile/emulated_pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "flow/pipeline.h"
#include "flow/virtual_clock.h"
#include "profile/fair_permits.h"

namespace tutti {
namespace {

constexpr Seconds kLastItems{0.05};  // what ends at the last moment is recorded a little later

/// When items left a queue, by the run's clock: from then on there was space for a later one.
class QueueTimes {
 public:
  explicit QueueTimes(std::size_t capacity) : capacity_(capacity) {}

  void note_taken(Seconds at) {
    taken_.with([&](auto& taken) { taken.push_back(at); });
  }
  /// The caller has just handed an item on that was done at `ended`: since when there was space for it.
  Seconds space_since(Seconds ended, Seconds now) {
    const std::size_t before = handed_on_.fetch_add(1);
    if (before < capacity_) return ended;
    return taken_.with([&](const auto& taken) {
      const std::size_t needed = before - capacity_;
      return needed < taken.size() ? std::max(ended, taken[needed]) : std::max(ended, now);
    });
  }

 private:
  const std::size_t capacity_;
  std::atomic<std::size_t> handed_on_ = 0;
  Guarded<std::deque<Seconds>> taken_{};
};

/// An item on its way.
struct Token {
  std::size_t item = 0;
  Seconds ready{};  // by the run's clock
};

/// These threads sleep nearly all the time. Ahead of busy programs they are woken in time; where that is not allowed,
/// they catch up.
void go_ahead_of_others() {
  const sched_param lowest{.sched_priority = 1};
  if (pthread_setschedparam(pthread_self(), SCHED_RR, &lowest) != 0) setpriority(PRIO_PROCESS, 0, -10);
}

/// What a thread of a stage remembers from item to item.
struct ThreadState {
  ThreadState() { go_ahead_of_others(); }
  Seconds free_since{};  // by the run's clock
  bool is_over = false;  // the run: what the thread is still given does not count
};

class EmulatedStage {
 public:
  EmulatedStage(const StageModel& model, double slowed, VirtualClock& clock, FairPermits* cores)
      : model_(model), slowed_(slowed), clock_(clock), cores_(cores), device_(1), out_(model.queue) {}
  /// From now on it works twice as fast by the clock, which it holds back.
  void speed_up() { is_sped_up_ = true; }

  QueueTimes& out() { return out_; }
  void set_input(QueueTimes* in) { in_ = in; }
  void stop() { device_.stop(); }
  std::vector<ItemSpan> spans() {
    return spans_.with([](auto& spans) { return std::exchange(spans, {}); });
  }

  /// Works on the item, then hands it on by `emit`. False: the run is over.
  template <class EmitFn>
  bool work(const Token& token, const EmitFn& emit) {
    thread_local ThreadState me;
    if (me.is_over) return false;
    ItemSpan span{.item = token.item, .taken = std::max(token.ready, me.free_since)};
    if (in_) in_->note_taken(span.taken);
    const bool is_done = serve(span) && emit(Token{span.item, span.ended});
    me.is_over = !is_done;
    if (is_done) {
      span.handed_on = is_last_ ? span.ended : out_.space_since(span.ended, clock_.now());
      me.free_since = span.handed_on;
    }
    spans_.with([&](auto& spans) { spans.push_back(span); });
    return is_done;
  }
  void be_last() { is_last_ = true; }

 private:
  bool serve(ItemSpan& span) {
    FairPermits* permits = model_.resource == StageResource::cpu      ? cores_
                           : model_.resource == StageResource::device ? &device_
                                                                      : nullptr;
    const auto begin = permits ? permits->acquire(span.taken) : std::optional(span.taken);
    if (!begin) return false;
    span.began = *begin;
    const Seconds stall = model_.stall(span.item), work = model_.service(span.item) - stall;
    Seconds end = span.began + work * slowed_;
    if (is_sped_up_) {
      end = span.began + work * slowed_ / 2;
      const VirtualClock::Hold hold(clock_);
      if (!clock_.sleep_until(end)) return false;
    }
    end += stall * slowed_;
    if (!clock_.sleep_until(end)) return false;
    span.ended = std::max(end, clock_.now() - kMostLate);
    if (permits) permits->release(span.ended);
    return true;
  }

  const StageModel& model_;
  const double slowed_;
  VirtualClock& clock_;
  FairPermits* cores_;
  FairPermits device_;
  QueueTimes out_;
  QueueTimes* in_ = nullptr;
  bool is_last_ = false, is_sped_up_ = false;
  Guarded<std::vector<ItemSpan>> spans_{};
};

StageOptions options_of(const StageModel& model) {
  return {.threads = model.threads, .output = {.items = model.queue}};
}

/// Everything that a run consists of, in the order in which it must go.
struct Emulation {
  Emulation(const PipelineModel& pipeline, const EmulationOptions& options) : cores(pipeline.cores) {
    for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
      const auto slowed = options.slowed.find(s);
      stages.push_back(std::make_unique<EmulatedStage>(
          pipeline.stages[s], slowed == options.slowed.end() ? 1 : slowed->second, clock, &cores));
      if (s > 0) stages[s]->set_input(&stages[s - 1]->out());
    }
    stages.back()->be_last();
    if (options.sped_up) stages[*options.sped_up]->speed_up();
  }

  void build(const PipelineModel& pipeline, std::size_t first_item) {
    auto reader = flow.source(
        "source", [next = first_item]() mutable -> std::optional<Result<Token>> { return Token{.item = next++}; });
    for (std::size_t s = 0; s + 1 < stages.size(); ++s)
      reader = flow.flat_map<Token>(
          pipeline.stages[s].name, std::move(reader),
          [stage = stages[s].get()](Token&& token, const Emit<Token>& emit) -> Result<void> {
            // NOLINTNEXTLINE(performance-move-const-arg): emit takes what is moved.
            stage->work(token, [&](Token&& out) { return emit(std::move(out)); });
            return {};
          },
          options_of(pipeline.stages[s]));
    flow.sink(
        pipeline.stages.back().name, std::move(reader),
        [stage = stages.back().get()](Token&& token) -> Result<void> {
          stage->work(token, [](Token&&) { return true; });
          return {};
        },
        options_of(pipeline.stages.back()));
  }

  void stop() {
    clock.stop();
    cores.stop();
    for (const auto& stage : stages) stage->stop();
    flow.stop();
  }

  VirtualClock clock{};
  FairPermits cores;
  std::vector<std::unique_ptr<EmulatedStage>> stages{};
  Pipeline flow{};  // last: its threads use all of the above
};

}  // namespace

Result<PipelineRun> run_emulated(const PipelineModel& pipeline, const EmulationOptions& options) {
  Emulation emulation(pipeline, options);
  emulation.build(pipeline, options.part.first_item);
  emulation.flow.start();
  PipelineRun run{.part = options.part};
  emulation.clock.sleep_until(run.part.to + kLastItems);
  emulation.stop();
  if (auto ended = emulation.flow.join(); !ended && ended.error().fault != Fault::cancelled)
    return tl::unexpected(ended.error());
  for (const auto& stage : emulation.stages) run.stages.push_back(stage->spans());
  return run;
}

}  // namespace tutti
