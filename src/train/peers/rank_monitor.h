#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace c10d {
class Store;
}

namespace tutti {

/// How often a process sends its heartbeat, the silence after which it is taken for gone, and how often the waiting
/// processes log whom they wait for.
struct WaitLimits {
  Seconds beat{5};
  Seconds silence{60};
  Seconds news{30};
};

/// Finds processes of a training that are gone, by the heartbeat that each writes into the store where they met, again
/// and again and whatever it is doing. For work that takes one process seconds and another hours (`run`), and for waits
/// that nothing else would end (`watch`). One thread calls it; threads of its own write the heartbeat and watch.
class RankMonitor {
 public:
  /// `store` outlives it, and may be used by several threads.
  RankMonitor(c10d::Store& store, int rank, int ranks, WaitLimits limits);
  RankMonitor(const RankMonitor&) = delete;

  /// As Peers::run_and_wait. A process that has yet to come to the work is waited for as well.
  Result<void> run(const std::string& doing, const std::function<Result<void>()>& work);

  /// Calls `on_loss` once, on the watching thread, where another process or the store is gone while `is_blocked()`
  /// holds, which that thread calls. To be called once.
  void watch(std::function<bool()> is_blocked, std::function<void(const Error&)> on_loss);

 private:
  struct Other;
  std::string key_of(const std::string& what) const;
  std::string name_of(const Other& other) const;
  std::string value_of(const std::string& key) const;
  std::vector<Other> others() const;
  void read_heartbeat(Other& other) const;
  Result<void> check(const Other& other, const std::string& doing) const;
  Result<void> check_heartbeat(const Other& other, const std::string& doing) const;
  Result<void> store_gone() const;
  Result<void> wait_for_others(const std::string& doing) const;
  void report_failed(const std::string& own) const;
  Result<void> work_here(const std::string& own, const std::function<Result<void>()>& work) const;

  c10d::Store& store_;
  int rank_;
  int ranks_;
  WaitLimits limits_;
  int round_ = 0;  // number of the call, which is the same in all processes
  // Last: they use the above.
  std::jthread heartbeats_;
  std::jthread watching_;
};

}  // namespace tutti
