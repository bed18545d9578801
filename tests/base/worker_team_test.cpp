#include "base/worker_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tutti {
namespace {

using std::chrono::microseconds;
using testing::Each;

/// How often each part ran.
std::vector<int> run_counts(WorkerTeam& team, std::int64_t parts, std::int64_t threads) {
  std::vector<std::atomic<int>> counts(static_cast<std::size_t>(parts));
  team.run(parts, threads, [&](WorkerTeam::Claims& claims) {
    while (const auto part = claims.next()) ++counts[static_cast<std::size_t>(*part)];
  });
  return {counts.begin(), counts.end()};
}

/// Runs parts in [0, parts) until every one of `parts` threads has one: no thread returns before all have started.
void run_on_as_many_threads(WorkerTeam& team, std::int64_t parts) {
  std::latch started(parts);
  team.run(parts, parts, [&](WorkerTeam::Claims& claims) {
    while (claims.next()) started.arrive_and_wait();
  });
}

TEST(WorkerTeam, EveryPartRunsOnceWithAnyThreadsAndParts) {
  WorkerTeam team;
  for (const std::int64_t threads : {1, 2, 3, 8}) {
    for (const std::int64_t parts : {0, 1, 2, 3, 7, 64, 1000}) {
      EXPECT_THAT(run_counts(team, parts, threads), Each(1)) << parts << " parts on " << threads;
    }
  }
}

TEST(WorkerTeam, EveryPartRunsOnceInThousandsOfLoops) {
  WorkerTeam team({.helper_spin = microseconds(5), .caller_spin = microseconds(1)});  // they fall asleep and wake
  std::int64_t sum = 0;
  for (int loop = 0; loop < 5000; ++loop) {
    std::atomic<std::int64_t> of_loop = 0;
    team.run(9, 1 + loop % 4, [&](WorkerTeam::Claims& claims) {
      while (const auto part = claims.next()) of_loop += *part + 1;
    });
    ASSERT_EQ(of_loop, 45) << "in loop " << loop;
    if (loop % 100 == 0) std::this_thread::sleep_for(microseconds(200));
    sum += of_loop;
  }
  EXPECT_EQ(sum, 5000 * 45);
}

TEST(WorkerTeam, AsManyThreadsTakePartAsAreAllowed) {
  WorkerTeam team;
  run_on_as_many_threads(team, 4);  // would never return with fewer
  std::atomic<int> threads = 0;
  team.run(1000, 2, [&](WorkerTeam::Claims& claims) {
    ++threads;
    while (claims.next()) std::this_thread::yield();
  });
  EXPECT_LE(threads, 2);
}

TEST(WorkerTeam, HelperThatIsHeldUpDelaysNoOtherPart) {
  WorkerTeam team;
  const auto caller = std::this_thread::get_id();
  std::latch others(99), helper_holds(1);  // parts
  std::atomic<int> by_caller = 0;
  team.run(100, 2, [&](WorkerTeam::Claims& claims) {
    const bool is_caller = std::this_thread::get_id() == caller;
    for (bool first = true; const auto part = claims.next(); first = false) {
      if (!is_caller && first) {
        helper_holds.count_down();
        others.wait();  // as if it had no core until all other parts are over
        continue;
      }
      if (is_caller && first) helper_holds.wait();
      by_caller += is_caller;
      others.count_down();
    }
  });
  EXPECT_EQ(by_caller, 99);
}

TEST(WorkerTeam, CallerWaitsForAPartThatAHelperHasStarted) {
  WorkerTeam team({.caller_spin = microseconds(1)});
  const auto caller = std::this_thread::get_id();
  std::latch started(1);
  std::atomic<bool> over = false;
  team.run(2, 2, [&](WorkerTeam::Claims& claims) {
    while (claims.next()) {
      if (std::this_thread::get_id() == caller) {
        started.wait();
      } else {
        started.count_down();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        over = true;
      }
    }
  });
  EXPECT_TRUE(over);
  EXPECT_GT(team.totals().waited, microseconds(0));
}

TEST(WorkerTeam, LoopInsideAPartRunsOnThatThread) {
  WorkerTeam team;
  std::atomic<std::int64_t> inner = 0;
  std::atomic<bool> elsewhere = false;
  team.run(8, 3, [&](WorkerTeam::Claims& claims) {
    while (claims.next()) {
      const auto mine = std::this_thread::get_id();
      team.run(10, 3, [&](WorkerTeam::Claims& nested) {
        while (nested.next()) ++inner;
        if (std::this_thread::get_id() != mine) elsewhere = true;
      });
    }
  });
  EXPECT_EQ(inner, 80);
  EXPECT_FALSE(elsewhere);
}

TEST(WorkerTeam, CallersAtOnceEachGetAllTheirParts) {
  WorkerTeam team;
  std::vector<std::jthread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 300; ++loop) {
        const auto counts = run_counts(team, 20, 3);
        if (std::accumulate(counts.begin(), counts.end(), 0) != 20 || std::ranges::find(counts, 2) != counts.end())
          ++wrong;
      }
    });
  }
  callers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(WorkerTeam, CallerBesideAnotherDoesNotWaitForIt) {
  WorkerTeam team;
  std::latch inside(1), other_done(1);
  std::jthread first([&] {
    team.run(2, 2, [&](WorkerTeam::Claims& claims) {
      while (const auto part = claims.next()) {
        if (*part != 0) continue;
        inside.count_down();
        other_done.wait();
      }
    });
  });
  inside.wait();
  EXPECT_THAT(run_counts(team, 50, 2), Each(1));
  other_done.count_down();
}

TEST(WorkerTeam, ExceptionOfAnyThreadReachesTheCaller) {
  WorkerTeam team;
  const auto caller = std::this_thread::get_id();
  for (const bool of_caller : {true, false}) {
    std::latch started(2);
    const auto failing = [&] {
      team.run(2, 2, [&](WorkerTeam::Claims& claims) {
        while (claims.next()) {
          started.arrive_and_wait();
          if ((std::this_thread::get_id() == caller) == of_caller) throw std::runtime_error("part");
        }
      });
    };
    EXPECT_THROW(failing(), std::runtime_error) << of_caller;
    EXPECT_THAT(run_counts(team, 100, 2), Each(1)) << "after an exception";
  }
}

TEST(WorkerTeam, PartsBehindAnExceptionAreSkipped) {
  WorkerTeam team;
  std::atomic<int> ran = 0;
  const auto failing = [&] {
    team.run(1000, 1 + 1, [&](WorkerTeam::Claims& claims) {
      while (const auto part = claims.next()) {
        if (++ran == 1) throw std::runtime_error("first");
        std::this_thread::sleep_for(microseconds(50));
      }
    });
  };
  EXPECT_THROW(failing(), std::runtime_error);
  EXPECT_LT(ran, 1000);
}

TEST(WorkerTeam, ClosesWhileHelpersSpinOrSleep) {
  for (const int spin_us : {1, 100000}) {
    for (int round = 0; round < 20; ++round) {
      WorkerTeam team({.helper_spin = microseconds(spin_us)});
      run_counts(team, 8, 3);
    }
  }
  const WorkerTeam unused;
}

TEST(WorkerTeam, HelpersAreSetUpBeforeTheirFirstPart) {
  static thread_local bool ready = false;
  ready = true;  // the caller
  std::atomic<int> unready = 0;
  WorkerTeam team({.on_helper_start = [] { ready = true; }});
  std::latch all(3);
  team.run(3, 3, [&](WorkerTeam::Claims& claims) {
    while (claims.next()) {
      all.arrive_and_wait();
      unready += ready ? 0 : 1;
    }
  });
  EXPECT_EQ(unready, 0);
}

}  // namespace
}  // namespace tutti
