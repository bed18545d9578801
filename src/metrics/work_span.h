#pragma once

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace tutti {

/// Work on one thing: how long threads were at it, all together, and between which moments. Plain data.
struct WorkSpan {
  Seconds busy{};
  Clock::Instant first{}, last{};  ///< of no meaning while `busy` is 0

  void add(Clock::Instant begin, Clock::Instant end) { *this += WorkSpan{Seconds(end - begin), begin, end}; }
  WorkSpan& operator+=(const WorkSpan& more) {
    if (more.busy.count() <= 0) return *this;
    first = busy.count() > 0 ? std::min(first, more.first) : more.first;
    last = busy.count() > 0 ? std::max(last, more.last) : more.last;
    busy += more.busy;
    return *this;
  }
};

/// What the stages of a pipeline did for one thing, in the order in which they came to it. Work of a stage is one entry
/// where it went on without a longer gap, else several. Plain data.
class StageWork {
 public:
  struct Entry {
    std::string_view stage;  ///< a literal
    WorkSpan span{};
  };

  void add(std::string_view stage, const WorkSpan& span) {
    constexpr auto kGap = std::chrono::milliseconds(5);
    const auto goes_on = [&](const Entry& entry) {
      return entry.stage == stage && span.first <= entry.span.last + kGap && span.last + kGap >= entry.span.first;
    };
    const auto found = std::ranges::find_if(entries_, goes_on);
    if (found == entries_.end())
      entries_.push_back({stage, span});
    else
      found->span += span;
  }
  /// Calls `work`, which that stage does for it.
  template <class Fn>
  auto measure(std::string_view stage, const Clock& clock, Fn&& work) {
    struct Timed {
      StageWork& to;
      std::string_view stage;
      const Clock& clock;
      Clock::Instant begin = clock.now();
      ~Timed() {
        WorkSpan span;
        span.add(begin, clock.now());
        to.add(stage, span);
      }
    } const timed{*this, stage, clock};
    return std::forward<Fn>(work)();
  }
  StageWork& operator+=(const StageWork& more) {
    for (const Entry& entry : more.entries_) add(entry.stage, entry.span);
    return *this;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_{};
};

}  // namespace tutti
