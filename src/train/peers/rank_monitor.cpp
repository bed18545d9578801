#include "train/peers/rank_monitor.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/periodic_thread.h"
#include "train/peers/peers.h"

namespace tutti {
namespace {

// What a process writes about its work into the store.
constexpr const char* kWorkDone = "done";
constexpr const char* kFailed = "failed";

constexpr std::chrono::milliseconds kBetweenCounts{100};

std::string name_of_machine() {
  const std::string name = host_name();
  return name.empty() ? "an unknown machine" : name;
}

/// The key under which a process writes its heartbeat.
std::string heartbeat_key(int rank) {
  return "rank-monitor/heartbeat/" + std::to_string(rank);
}

/// A count and the name of its machine, new every time.
std::string heartbeat_text(int count) {
  return std::to_string(count) + " " + name_of_machine();
}

void send_heartbeats(c10d::Store& store, const std::string& key, Seconds every, const std::stop_token& stop) {
  for (int count = 1; wait_unless_stopped(stop, every); ++count) {
    try {
      store.set(key, heartbeat_text(count));
    } catch (const c10::DistNetworkError&) {
      // The store is gone for good: torch would log its stack every time, the thread at work finds out by itself.
      return;
    } catch (const std::exception&) {
      // This heartbeat did not arrive; the next may.
    }
  }
}

double seconds_since(Clock::Instant begin) {
  return Seconds(Clock::real().now() - begin).count();
}

}  // namespace

/// As far as one waits for it.
struct RankMonitor::Other {
  int rank = 0;
  std::string work{};  // how far it has reported to be; empty: not at its end
  std::string heartbeat{};
  Clock::Instant last_seen = Clock::real().now();  // when its last heartbeat came
};

RankMonitor::RankMonitor(c10d::Store& store, int rank, int ranks, WaitLimits limits)
    : store_(store), rank_(rank), ranks_(ranks), limits_(limits) {
  store_.set(heartbeat_key(rank_), heartbeat_text(0));
  heartbeats_ = std::jthread(
      [this](const std::stop_token& stop) { send_heartbeats(store_, heartbeat_key(rank_), limits_.beat, stop); });
}

std::string RankMonitor::key_of(const std::string& what) const {
  return "rank-monitor/" + std::to_string(round_) + "/" + what;
}

/// "process 3 of 4 on gpu07", as far as it has reported where it is.
std::string RankMonitor::name_of(const Other& other) const {
  const auto name = name_of_process(other.rank, ranks_);
  return other.heartbeat.empty() ? name : name + " on " + other.heartbeat.substr(other.heartbeat.rfind(' ') + 1);
}

/// Empty: nothing yet.
std::string RankMonitor::value_of(const std::string& key) const {
  return store_.check({key}) ? store_.get_to_str(key) : std::string();
}

Result<void> RankMonitor::store_gone() const {
  return fail(Fault::device, name_of_process(0, ranks_) + ", where all meet, is gone: it failed, or was ended",
              "See its log");
}

std::vector<RankMonitor::Other> RankMonitor::others() const {
  std::vector<Other> others;
  for (int rank = 0; rank < ranks_; ++rank)
    if (rank != rank_) others.push_back({.rank = rank});
  return others;
}

void RankMonitor::read_heartbeat(Other& other) const {
  auto heartbeat = value_of(heartbeat_key(other.rank));
  if (heartbeat == other.heartbeat) return;
  other.heartbeat = std::move(heartbeat);
  other.last_seen = Clock::real().now();
}

Result<void> RankMonitor::check(const Other& other, const std::string& doing) const {
  if (other.work == kFailed) return fail(Fault::device, name_of(other) + " failed where each " + doing, "See its log");
  if (other.work == kWorkDone) return {};
  return check_heartbeat(other, doing);
}

Result<void> RankMonitor::check_heartbeat(const Other& other, const std::string& doing) const {
  if (seconds_since(other.last_seen) <= limits_.silence.count()) return {};
  return fail(Fault::device,
              name_of(other) + ", which " + doing + ", has sent no heartbeat for " +
                  std::to_string(std::lround(limits_.silence.count())) + " s: it, its machine or the network is gone",
              "Start all of them again, with " + field("resume") + " where there are checkpoints");
}

/// One key counts all of them; the missing ones' keys are read as often as heartbeats are written.
Result<void> RankMonitor::wait_for_others(const std::string& doing) const {
  auto missing = others();
  const auto begin = Clock::real().now();
  auto reported = begin, looked = begin;
  for (; store_.add(key_of("done"), 0) < ranks_; std::this_thread::sleep_for(kBetweenCounts)) {
    if (seconds_since(looked) < limits_.beat.count()) continue;
    looked = Clock::real().now();
    for (auto& other : missing) {
      other.work = value_of(key_of(std::to_string(other.rank)));
      read_heartbeat(other);
      if (auto checked = check(other, doing); !checked) return checked;
    }
    std::erase_if(missing, [](const Other& other) { return other.work == kWorkDone; });
    if (missing.empty()) return {};  // one that ended right after it wrote so has not counted itself
    if (seconds_since(reported) < limits_.news.count()) continue;
    reported = looked;
    std::string names;
    for (const auto& other : missing) names += (names.empty() ? "" : ", ") + name_of(other);
    log(Level::info, "waiting for " + names + ", which " + doing + "; " +
                         std::to_string(std::lround(seconds_since(begin))) + " s so far");
  }
  return {};
}

void RankMonitor::report_failed(const std::string& own) const {
  try {
    store_.set(own, kFailed);
  } catch (const std::exception&) {
    // The others cannot be reached, and the work's own failure is what counts.
  }
}

/// What is thrown is a failure to the others, too: they need not wait for the silence behind it.
Result<void> RankMonitor::work_here(const std::string& own, const std::function<Result<void>()>& work) const {
  Result<void> done{};
  try {
    done = work();
  } catch (...) {
    report_failed(own);
    throw;
  }
  if (!done) report_failed(own);
  return done;
}

Result<void> RankMonitor::run(const std::string& doing, const std::function<Result<void>()>& work) {
  ++round_;
  const auto own = key_of(std::to_string(rank_));
  if (auto done = work_here(own, work); !done) return done;
  try {
    store_.set(own, kWorkDone);
    store_.add(key_of("done"), 1);
    return wait_for_others(doing);
  } catch (const std::exception&) {
    return store_gone();
  }
}

void RankMonitor::watch(std::function<bool()> is_blocked, std::function<void(const Error&)> on_loss) {
  const auto look = [this](std::vector<Other>& others) -> Result<void> {
    try {
      for (auto& other : others) read_heartbeat(other);
    } catch (const std::exception&) {
      return store_gone();
    }
    for (const auto& other : others)
      if (auto checked = check_heartbeat(other, "adds up gradients with this one"); !checked) return checked;
    return {};
  };
  watching_ = std::jthread(
      [this, look, is_blocked = std::move(is_blocked), on_loss = std::move(on_loss)](const std::stop_token& stop) {
        auto all = others();
        while (wait_unless_stopped(stop, limits_.beat)) {
          const auto alive = look(all);
          if (!alive && is_blocked()) return on_loss(alive.error());
        }
      });
}

}  // namespace tutti
