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

/// How long the threads of a process, and of all that it starts, ran and could have run but had no core: looked at
/// twice a second, until `stop`. A thread that ends between two looks is counted until the first.
class CoreWatch {
 public:
  explicit CoreWatch(int process);

  /// Ends that. Of all threads together.
  SchedulerTimes stop();

 private:
  using Thread = std::pair<int, int>;  // process and thread
  void look();

  int process_;
  Guarded<std::map<Thread, SchedulerTimes>> seen_{};
  std::unique_ptr<PeriodicThread> thread_{};  // last: it uses the others
};

}  // namespace tutti
