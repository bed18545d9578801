#pragma once

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "advise/finding.h"
#include "base/clock.h"
#include "base/units.h"
#include "device/process_tree.h"
#include "device/stall_counters.h"
#include "profile/core_watch.h"
#include "profile/processor_watch.h"
#include "profile/recording_file.h"

namespace tutti {

/// What the machine does beside this process and those that it starts, from the construction on.
class MachineWatch {
 public:
  /// `threads`: what those of the run did since, where that is known.
  MachineEvidence evidence(const SchedulerTimes& threads = {}) const {
    const Seconds passed = Clock::real().now() - start_;
    if (passed.count() <= 0) return {};
    const StallCounters now = read_stall_counters("/");
    const auto share = [&](std::optional<Seconds> StallCounters::*counter) {
      return now.*counter && before_.*counter ? std::max(0.0, (*(now.*counter) - *(before_.*counter)) / passed) : 0.0;
    };
    const Seconds used = own_processor_time() + children_processor_time() - used_;
    const double own = std::max(used, threads.ran) / passed;  // processes that still run are in the latter alone
    const auto pages = now.swapped_pages.value_or(0) - before_.swapped_pages.value_or(0);
    const Seconds wanted = threads.ran + threads.waited;
    return {.other_cores = std::max(0.0, share(&StallCounters::busy) - own),
            .cores = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)),
            .core_wait = wanted.count() > 0 ? threads.waited / wanted : 0,
            .wanted_cores = wanted / passed,
            .throttled_cores = share(&StallCounters::throttled),
            .cpu_stall = share(&StallCounters::cpu),
            .memory_stall = share(&StallCounters::memory),
            .swapped_a_second = static_cast<double>(pages) / passed.count(),
            .hot = share(&StallCounters::hot)};
  }

 private:
  const Clock::Instant start_ = Clock::real().now();
  const StallCounters before_ = read_stall_counters("/");
  const Seconds used_ = own_processor_time() + children_processor_time();
};

/// What the machine does beside a run of this process, from the construction on. Under `tutti profile`, which watches
/// it itself, nothing.
class RunWatch {
 public:
  RunWatch() {
    if (!recording_wanted()) cores_ = std::make_unique<CoreWatch>(::getpid());
  }
  /// Ends that.
  MachineEvidence evidence() { return cores_ ? machine_.evidence(cores_->stop()) : MachineEvidence(); }

 private:
  const MachineWatch machine_;
  std::unique_ptr<CoreWatch> cores_{};
};

}  // namespace tutti
