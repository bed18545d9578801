#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

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

/// Work that takes one process of a training seconds and another hours: a process that is done waits for the others, as
/// long as they are alive. It uses the store where they met, in which each writes its heartbeat again and again,
/// whatever it is doing: one that has yet to come to the work is waited for as well. One thread, and one that writes
/// the heartbeat.
class RankMonitor {
 public:
  /// `store` outlives it.
  RankMonitor(c10d::Store& store, int rank, int ranks, WaitLimits limits);
  RankMonitor(const RankMonitor&) = delete;

  /// As Peers::run_and_wait.
  Result<void> run(const std::string& doing, const std::function<Result<void>()>& work);

 private:
  struct Other;
  std::string key_of(const std::string& what) const;
  std::string name_of(const Other& other) const;
  std::string value_of(const std::string& key) const;
  void listen_to(Other& other) const;
  Result<void> check(const Other& other, const std::string& doing) const;
  Result<void> wait_for_others(const std::string& doing) const;
  void say_failed(const std::string& own) const;
  Result<void> work_here(const std::string& own, const std::function<Result<void>()>& work) const;

  c10d::Store& store_;
  int rank_;
  int ranks_;
  WaitLimits limits_;
  int round_ = 0;        // number of the call, which is the same in all processes
  std::jthread living_;  // last: it uses the above
};

}  // namespace tutti
