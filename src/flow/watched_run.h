#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "base/units.h"
#include "flow/pipeline.h"

namespace tutti {

/// Runs a pipeline, and has the times of its items: the stages' functions measure them.
class WatchedRun {
 public:
  virtual ~WatchedRun() = default;

  /// As Pipeline::run.
  virtual Result<void> run(Pipeline& pipeline) { return pipeline.run(); }

  /// Calls `work`, which is what stage `stage` of those that are measured does with item `item`, both from 0. Any
  /// thread.
  template <class Fn>
  auto measure(std::size_t stage, std::size_t item, Fn&& work) {
    const auto start = Clock::real().now();
    auto done = work();
    note(stage, item, start, Clock::real().now());
    return done;
  }

 protected:
  /// What was measured. Plain data.
  struct Measured {
    std::vector<std::vector<Seconds>> times{};    // by stage and item; 0: not there
    std::vector<Clock::Instant> ends{};           // of the items in the last stage
    std::optional<Clock::Instant> first_start{};  // of any item
  };
  /// As far as all stages have had the items.
  Measured measured() const {
    auto all = measured_.with([](const auto& it) { return it; });
    std::size_t done = all.times.empty() ? 0 : all.times.front().size();
    for (const auto& stage : all.times) done = std::min(done, stage.size());
    for (auto& stage : all.times) stage.resize(done);
    all.ends.resize(done);
    return all;
  }

 private:
  void note(std::size_t stage, std::size_t item, Clock::Instant start, Clock::Instant end) {
    measured_.with([&](Measured& all) {
      if (all.times.size() <= stage) {
        all.times.resize(stage + 1);
        all.ends.clear();  // they were those of a stage that is not the last
      }
      auto& times = all.times[stage];
      if (times.size() <= item) times.resize(item + 1);
      times[item] = end - start;
      if (stage + 1 == all.times.size()) {
        if (all.ends.size() <= item) all.ends.resize(item + 1);
        all.ends[item] = end;
      }
      if (!all.first_start || start < *all.first_start) all.first_start = start;
    });
  }

  Guarded<Measured> measured_{};
};

}  // namespace tutti
