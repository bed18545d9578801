#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "base/units.h"
#include "device/process_tree.h"

namespace tutti {

/// How long the threads of a process, and of all that it starts, ran and could have run but had no core, from the
/// construction on: looked at twice a second, until `stop`. A thread that ends between two looks is counted until the
/// first.
class CoreWatch {
 public:
  explicit CoreWatch(int process);

  /// Ends that. Of all threads together.
  SchedulerTimes stop();

 private:
  using Seen = std::map<std::pair<int, int>, SchedulerTimes>;  // by process and thread
  void look();

  int process_;
  Seen before_{};
  Guarded<Seen> seen_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

}  // namespace tutti
