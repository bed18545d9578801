#pragma once

#include <algorithm>
#include <cstddef>
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
    note(stage, item, Clock::real().now() - start);
    return done;
  }

 protected:
  /// By stage and item, as far as all stages have had the items; a time that is not there is 0.
  std::vector<std::vector<Seconds>> item_times() const {
    auto times = times_.with([](const auto& it) { return it; });
    std::size_t done = times.empty() ? 0 : times.front().size();
    for (const auto& stage : times) done = std::min(done, stage.size());
    for (auto& stage : times) stage.resize(done);
    return times;
  }

 private:
  void note(std::size_t stage, std::size_t item, Seconds time) {
    times_.with([&](auto& times) {
      if (times.size() <= stage) times.resize(stage + 1);
      if (times[stage].size() <= item) times[stage].resize(item + 1);
      times[stage][item] = time;
    });
  }

  Guarded<std::vector<std::vector<Seconds>>> times_{};
};

}  // namespace tutti
