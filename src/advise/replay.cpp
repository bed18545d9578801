#include "advise/replay.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>

namespace tutti {
namespace {

constexpr double kFilling = 0.1;  // share of the items during which the pipeline fills

/// The end of the work on an item, or of its waiting for something else before it.
struct Event {
  Seconds at{};
  std::size_t order = 0;  // breaks ties: of two at the same moment, the one that began first
  std::size_t stage = 0;
  std::size_t item = 0;
  bool was_waiting = false;

  bool operator>(const Event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
};

/// How many threads do something, and the time that came to.
class Count {
 public:
  void add(int threads, Seconds now) {
    spent_ += threads_ * (now - since_);
    since_ = now;
    threads_ += threads;
  }
  Seconds until(Seconds now) const { return spent_ + threads_ * (now - since_); }

 private:
  Seconds spent_{};
  Seconds since_{};
  int threads_ = 0;
};

struct Waiting {
  std::size_t stage = 0;
  std::size_t item = 0;
};

/// Cores, or the one permit of a device: given out in the order in which they were requested.
class Permits {
 public:
  explicit Permits(int count) : free_(count) {}

  bool take_or_wait(Waiting waiting) {
    if (free_ > 0) {
      --free_;
      return true;
    }
    waiting_.push_back(waiting);
    return false;
  }
  /// Returns who has it now.
  std::optional<Waiting> release() {
    if (waiting_.empty()) {
      ++free_;
      return std::nullopt;
    }
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    return next;
  }

 private:
  int free_;
  std::deque<Waiting> waiting_{};
};

struct StageState {
  int idle = 0;                       // threads
  std::deque<std::size_t> queue{};    // behind the stage
  std::deque<std::size_t> blocked{};  // done, each with its thread, and no space for them
  Permits device{1};
  Count busy{};
  Count stuck{};
  Count core_wait{};
};

class Replay {
 public:
  explicit Replay(const PipelineModel& pipeline)
      : pipeline_(pipeline), cores_(pipeline.cores), states_(pipeline.stages.size()) {
    for (std::size_t s = 0; s < states_.size(); ++s) states_[s].idle = pipeline.stages[s].threads;
  }

  ReplayResult run(const ReplaySpan& span) {
    ReplayResult result;
    next_item_ = span.first_item;
    source_left_ = span.source_items;
    const std::size_t last = states_.size() - 1;
    for (std::size_t s = 0; s <= last; ++s) take(s);
    while (!events_.empty() && result.done_at.size() < span.items && events_.top().at <= span.time) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      states_[event.stage].busy.add(-1, now_);
      if (event.was_waiting) {
        take_permit(event.stage, event.item);
        continue;
      }
      release(event.stage);
      if (event.stage == last) {
        result.done_at.push_back(now_);
        ++states_[last].idle;
        take(last);
      } else {
        hand_on(event.stage, event.item);
      }
    }
    result.stages = shares();
    return result;
  }

 private:
  /// Idle threads of the stage take what is there for them.
  void take(std::size_t s) {
    StageState& stage = states_[s];
    while (stage.idle > 0) {
      if (s > 0 && pipeline_.stages[s - 1].queue == 0) unblock(s - 1);
      if (s == 0 ? source_left_ == 0 : states_[s - 1].queue.empty()) return;
      --stage.idle;
      std::size_t item = next_item_;
      if (s == 0) {
        ++next_item_;
        --source_left_;
      } else {
        item = states_[s - 1].queue.front();
        states_[s - 1].queue.pop_front();
      }
      request(s, item);
      if (s > 0 && pipeline_.stages[s - 1].queue > 0) unblock(s - 1);
    }
  }

  /// There is space behind the stage, or a thread of the next one is idle where there is no queue between them.
  void unblock(std::size_t s) {
    StageState& stage = states_[s];
    if (stage.blocked.empty()) return;
    stage.queue.push_back(stage.blocked.front());
    stage.blocked.pop_front();
    stage.stuck.add(-1, now_);
    ++stage.idle;
    take(s);
  }

  void hand_on(std::size_t s, std::size_t item) {
    StageState& stage = states_[s];
    const std::size_t space = pipeline_.stages[s].queue > 0 ? pipeline_.stages[s].queue : states_[s + 1].idle > 0;
    if (stage.queue.size() >= space) {
      stage.blocked.push_back(item);
      stage.stuck.add(1, now_);
      return;
    }
    stage.queue.push_back(item);
    ++stage.idle;
    take(s);  // a thread that goes on comes before one that has to wake up
    take(s + 1);
  }

  Permits* permits_of(std::size_t s) {
    switch (pipeline_.stages[s].resource) {
      case StageResource::cpu: return &cores_;
      case StageResource::device: return &states_[s].device;
      case StageResource::io: break;
    }
    return nullptr;
  }

  /// Where the item needs a core only behind some waiting, it waits without one.
  void request(std::size_t s, std::size_t item) {
    const StageModel& stage = pipeline_.stages[s];
    if (stage.resource != StageResource::cpu || stage.on_core >= 1) return take_permit(s, item);
    states_[s].busy.add(1, now_);
    events_.push({now_ + (1 - stage.on_core) * stage.service(item), begun_++, s, item, true});
  }

  void take_permit(std::size_t s, std::size_t item) {
    Permits* permits = permits_of(s);
    if (!permits || permits->take_or_wait({s, item}))
      begin(s, item);
    else
      states_[s].core_wait.add(1, now_);
  }

  void begin(std::size_t s, std::size_t item) {
    states_[s].busy.add(1, now_);
    const StageModel& stage = pipeline_.stages[s];
    const double share = stage.resource == StageResource::cpu ? std::min(1.0, stage.on_core) : 1;
    events_.push({now_ + share * stage.service(item), begun_++, s, item});
  }

  void release(std::size_t s) {
    Permits* permits = permits_of(s);
    const auto next = permits ? permits->release() : std::nullopt;
    if (!next) return;
    states_[next->stage].core_wait.add(-1, now_);
    begin(next->stage, next->item);
  }

  std::vector<StageShares> shares() const {
    std::vector<StageShares> all;
    for (std::size_t s = 0; s < states_.size(); ++s) {
      const Seconds spent = now_ * pipeline_.stages[s].threads;
      if (spent.count() <= 0) {
        all.push_back({});
        continue;
      }
      StageShares shares{.busy = states_[s].busy.until(now_) / spent,
                         .blocked = states_[s].stuck.until(now_) / spent,
                         .core_wait = states_[s].core_wait.until(now_) / spent};
      shares.starved = std::max(0.0, 1 - shares.busy - shares.blocked);
      all.push_back(shares);
    }
    return all;
  }

  const PipelineModel& pipeline_;
  Permits cores_;
  std::vector<StageState> states_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
  Seconds now_{};
  std::size_t next_item_ = 0;
  std::size_t source_left_ = 0;
  std::size_t begun_ = 0;
};

}  // namespace

double rate_between(std::span<const Seconds> done_at, Seconds from, Seconds to) {
  // Items done until `at`; the share of the one that is under way by time.
  const auto count_until = [&](Seconds at) {
    const auto next = std::ranges::upper_bound(done_at, at);
    const auto whole = static_cast<double>(next - done_at.begin());
    if (next == done_at.begin() || next == done_at.end()) return whole;
    const Seconds before = *(next - 1), gap = *next - before;
    return gap.count() > 0 ? whole + (at - before) / gap : whole;
  };
  return to > from ? (count_until(to) - count_until(from)) / (to - from).count() : 0;
}

double ReplayResult::rate() const {
  if (done_at.size() < 2) return 0;
  const auto first = static_cast<std::size_t>(kFilling * static_cast<double>(done_at.size()));
  const Seconds span = done_at.back() - done_at[first];
  return span.count() > 0 ? static_cast<double>(done_at.size() - 1 - first) / span.count() : 0;
}

ReplayResult replay(const PipelineModel& pipeline, const ReplaySpan& span) {
  return Replay(pipeline).run(span);
}

}  // namespace tutti
