#pragma once

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
    std::vector<std::vector<Seconds>> times{};    // by stage and item
    std::vector<Clock::Instant> ends{};           // of the items in the last stage
    std::optional<Clock::Instant> first_start{};  // of any item
  };
  /// Of the items that all stages have done, whatever others were under way at a stop.
  Measured measured() const {
    const auto all = measured_.with([](const auto& it) { return it; });
    Measured done{.times = std::vector<std::vector<Seconds>>(all.times.size()), .first_start = all.first_start};
    for (std::size_t item = 0; item < all.ends.size(); ++item) {
      if (all.ends[item] == Clock::Instant{}) continue;
      done.ends.push_back(all.ends[item]);
      for (std::size_t s = 0; s < all.times.size(); ++s)
        done.times[s].push_back(item < all.times[s].size() ? all.times[s][item] : Seconds(0));
    }
    return done;
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
