#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "metrics/work_span.h"

namespace tutti {

/// The time in which a training made steps, or waited for their batches: what is between, as an evaluation, is no part
/// of it. Not thread-safe.
class RecordedTime {
 public:
  /// It made a step, or waited, from `begin` to `end`. In ascending order.
  void add(Clock::Instant begin, Clock::Instant end) {
    constexpr Seconds kSame{0.0002};  // what goes on after so short a pause has not paused
    if (end <= begin) return;
    if (!spans_.empty() && Seconds(begin - spans_.back().second) < kSame)
      spans_.back().second = std::max(end, spans_.back().second);
    else
      spans_.emplace_back(begin, end);
  }

  /// How much of the work was done in that time, taken to be spread evenly over its span.
  Seconds within(const WorkSpan& work) const {
    if (work.busy.count() <= 0 || work.last <= work.first) return {};
    auto at = std::ranges::upper_bound(spans_, work.first, {}, &Span::second);
    Seconds covered{};
    for (; at != spans_.end() && at->first < work.last; ++at)
      covered += std::min(at->second, work.last) - std::max(at->first, work.first);
    return work.busy * (covered / Seconds(work.last - work.first));
  }

 private:
  using Span = std::pair<Clock::Instant, Clock::Instant>;
  std::vector<Span> spans_{};
};

}  // namespace tutti
