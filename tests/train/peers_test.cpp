#include "train/peers/peers.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "base/free_port.h"
#include "small_whisper.h"
#include "support/environment.h"
#include "support/log_capture.h"
#include "train/optimiser_step/step.h"

namespace tutti {
namespace {

/// Runs `work` in two threads, each a rank of its own.
template <class Work>
void as_two(Work work, WaitLimits limits = {}) {
  const int port = free_port().value();
  const auto run = [&](int rank) {
    const auto peers = connect({.rank = rank, .ranks = 2, .port = port}, limits);
    ASSERT_TRUE(peers) << peers.error().text();
    (*peers)->gather("here");  // no rank leaves while another still connects
    work(**peers);
  };
  std::jthread second(run, 1);
  run(0);
}

TEST(Rendezvous, SlurmUsesTheFirstNodeAndAPortFromTheJobId) {
  const ScopedVariable world("WORLD_SIZE", nullptr), rank("RANK", nullptr), tasks("SLURM_NTASKS", "8"),
      task("SLURM_PROCID", "5"), nodes("SLURM_JOB_NUM_NODES", "2"), list("SLURM_JOB_NODELIST", "gpu[03-05,9],login"),
      step("SLURM_STEP_NODELIST", nullptr), job("SLURM_JOB_ID", "123456");
  {
    const ScopedVariable address("MASTER_ADDR", nullptr), port("MASTER_PORT", nullptr);
    const auto found = rendezvous().value().value();
    EXPECT_EQ(found.rank, 5);
    EXPECT_EQ(found.address, "gpu03");
    EXPECT_EQ(found.port, 15000 + 123456 % 15000);
  }
  const ScopedVariable address("MASTER_ADDR", "10.0.0.1"), port("MASTER_PORT", "4711");
  EXPECT_EQ(rendezvous().value()->address, "10.0.0.1");
  EXPECT_EQ(rendezvous().value()->port, 4711);
}

TEST(Rendezvous, TheFirstOfSlurmsNodesIsFoundHoweverTheyAreWritten) {
  EXPECT_EQ(first_host("node1"), "node1");
  EXPECT_EQ(first_host("node1,node2"), "node1");
  EXPECT_EQ(first_host("node[7,9-12]"), "node7");
  EXPECT_EQ(first_host("rack[01-02]-ib,other"), "rack01-ib");
}

TEST(Rendezvous, ACardIsThatOfTheProcesssOwnNumberOnItsMachine) {
  const ScopedVariable world("WORLD_SIZE", "4"), rank("RANK", "3"), local("LOCAL_RANK", "1");
  EXPECT_EQ(device_of_process("cuda", 2).value(), "cuda:1");
  EXPECT_EQ(device_of_process("cuda", 1).value(), "cuda") << "it sees its own alone";
  EXPECT_EQ(device_of_process("cuda:0", 2).value(), "cuda:0");
  EXPECT_EQ(device_of_process("cpu", 2).value(), "cpu");
  const ScopedVariable alone("WORLD_SIZE", "1");
  EXPECT_EQ(device_of_process("cuda", 2).value(), "cuda");
}

TEST(Peers, SumAndExchangeValues) {
  as_two([](Peers& peers) {
    auto numbers = at::tensor({1.0F + static_cast<float>(peers.rank()), 10.0F});
    peers.sum(numbers);
    EXPECT_TRUE(at::equal(numbers, at::tensor({3.0F, 20.0F})));
    const std::string output = peers.rank() == 0 ? "" : std::string("two\0words", 9);
    EXPECT_EQ(peers.gather(output), (std::vector<std::string>{"", std::string("two\0words", 9)}));
  });
}

constexpr WaitLimits kHasty{.beat = Seconds(0.02), .silence = Seconds(0.4), .news = Seconds(0.2)};
/// Limits for live ranks: on a busy machine a thread may not run for a second or two.
constexpr WaitLimits kPatient{.beat = Seconds(0.02), .silence = Seconds(5), .news = Seconds(0.3)};
constexpr int kNews = 20;  // of the other one: longer than one may be silent

TEST(Peers, FinishedRankWaitsForBusyRankAndLogsItsName) {
  LogCapture log;
  std::atomic<bool> is_done = false;
  as_two(
      [&](Peers& peers) {
        const auto worked = peers.run_and_wait("opens its data", [&]() -> Result<void> {
          if (peers.rank() == 0) return {};
          log.wait_for("waiting for process 1 of 2 on ", kNews);
          is_done = true;
          return {};
        });
        EXPECT_TRUE(worked) << worked.error().text();
        EXPECT_TRUE(is_done);
        EXPECT_EQ(peers.gather("here"), (std::vector<std::string>{"here", "here"})) << "they go on together";
      },
      kPatient);
  EXPECT_GE(log.count(", which opens its data"), kNews);
}

TEST(Peers, LateRankIsWaitedForWhileItIsAlive) {
  LogCapture log;
  as_two(
      [&](Peers& peers) {
        // What comes before it, a report on a slow disk, say, takes longer than one may be silent.
        if (peers.rank() == 1) log.wait_for("waiting for process 1 of 2 on ", kNews);
        const auto worked = peers.run_and_wait("evaluates the network", [] { return Result<void>(); });
        EXPECT_TRUE(worked) << worked.error().text();
      },
      kPatient);
}

TEST(Peers, LostRankIsNotWaitedFor) {
  as_two(
      [](Peers& peers) {
        if (peers.rank() == 1) return;
        const auto worked = peers.run_and_wait("opens its data", [] { return Result<void>(); });
        ASSERT_FALSE(worked);
        EXPECT_EQ(worked.error().fault, Fault::device);
        EXPECT_THAT(worked.error().what,
                    testing::ContainsRegex("process 1 of 2 on .+, which opens its data, has sent no heartbeat"));
      },
      kHasty);
}

TEST(Peers, FailureOfOneRankEndsTheOthersAndKeepsItsError) {
  as_two(
      [](Peers& peers) {
        const auto worked = peers.run_and_wait("opens its data", [&]() -> Result<void> {
          if (peers.rank() == 1) return fail(Fault::full, "no room");
          return {};
        });
        ASSERT_FALSE(worked);
        EXPECT_THAT(worked.error().what,
                    testing::MatchesRegex(peers.rank() == 1 ? "no room"
                                                            : "process 1 of 2 on .+ failed where each opens its data"));
      },
      kPatient);
}

TEST(Peers, ExceptionOfOneRankIsAFailureForTheOthers) {
  as_two(
      [](Peers& peers) {
        if (peers.rank() == 1) {
          const auto broken = []() -> Result<void> { throw std::runtime_error("a bug"); };
          EXPECT_THROW(static_cast<void>(peers.run_and_wait("opens its data", broken)), std::runtime_error);
          return;
        }
        const auto worked = peers.run_and_wait("opens its data", [] { return Result<void>(); });
        ASSERT_FALSE(worked);
        EXPECT_THAT(worked.error().what,
                    testing::MatchesRegex("process 1 of 2 on .+ failed where each opens its data"));
      },
      kPatient);
}

TEST(Peers, WhereTheFirstIsGoneTheOthersSaySo) {
  as_two(
      [](Peers& peers) {
        if (peers.rank() == 0) return;
        const auto worked = peers.run_and_wait("opens its data", [] { return Result<void>(); });
        ASSERT_FALSE(worked);
        EXPECT_EQ(worked.error().fault, Fault::device);
        EXPECT_THAT(worked.error().what, testing::HasSubstr("process 0 of 2"));
      },
      kPatient);
}

/// Torch writes its stack every time, and who packs may go on for hours.
TEST(Peers, LossOfRankZeroIsNotReportedAtEveryHeartbeat) {
  testing::internal::CaptureStderr();
  as_two(
      [](Peers& peers) {
        if (peers.rank() == 1) std::this_thread::sleep_for(50 * kHasty.beat);  // fewer on a busy machine: no failure
      },
      kHasty);
  const auto decoder_input = testing::internal::GetCapturedStderr();
  std::size_t complaints = 0;
  for (auto at = decoder_input.find("sendBytes failed"); at != std::string::npos;
       at = decoder_input.find("sendBytes failed", at + 1))
    ++complaints;
  EXPECT_LE(complaints, 1U) << decoder_input;
}

TEST(RankMonitor, WatchReportsALostRankWhileTheCallerIsBlocked) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  RankMonitor monitor(*store, 0, 2, kHasty);
  std::atomic<bool> is_blocked = false;
  std::promise<std::string> loss;
  monitor.watch([&] { return is_blocked.load(); }, [&](const Error& error) { loss.set_value(error.what); });
  { const RankMonitor lost(*store, 1, 2, kHasty); }
  auto reported = loss.get_future();
  EXPECT_EQ(reported.wait_for(2 * kHasty.silence), std::future_status::timeout) << "it waits for nothing";
  is_blocked = true;
  ASSERT_EQ(reported.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_THAT(reported.get(), testing::ContainsRegex("process 1 of 2 on .+ has sent no heartbeat for"));
}

TEST(RankMonitor, WatchReportsNoRankThatIsAlive) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  RankMonitor monitor(*store, 0, 2, kPatient);
  const RankMonitor alive(*store, 1, 2, kPatient);
  std::atomic<int> losses = 0;
  monitor.watch([] { return true; }, [&](const Error&) { ++losses; });
  std::this_thread::sleep_for(20 * kPatient.beat);
  EXPECT_EQ(losses, 0);
}

TEST(Peers, TwoWithHalfABatchEachEndWhereOneWithTheWholeBatchEnds) {
  constexpr std::int64_t kSteps = 50;
  const auto alone = small_task();
  TrainStep whole(*alone, {}, {});
  std::vector<double> losses;
  for (std::int64_t number = 1; number <= kSteps; ++number) {
    const auto batch = alone->prepare(small_batch(8 * number, 8));
    losses.push_back(whole.run({&batch, 1}, number, 1e-3).loss);
  }
  as_two([&](Peers& peers) {
    const auto task = small_task();
    TrainStep step(*task, {}, {}, &peers);
    for (std::int64_t number = 1; number <= kSteps; ++number) {
      // Unequal shares; in every tenth step the second has nothing.
      const std::int64_t first = number % 10 == 0 ? 8 : 5;
      const auto batch = task->prepare(small_batch(8 * number, 8));
      std::vector<TaskBatch> share;
      if (peers.rank() == 0) share.push_back(rows_of(batch, 0, first));
      if (peers.rank() == 1 && first < 8) share.push_back(rows_of(batch, first, 8 - first));
      const auto outcome = step.run(share, number, 1e-3);
      EXPECT_NEAR(outcome.loss, losses[static_cast<std::size_t>(number - 1)], 1e-5 * losses[0]);
      EXPECT_EQ(outcome.samples, 8);
      EXPECT_EQ(outcome.frames.computed, 8 * 40);
    }
    EXPECT_LT(largest_difference(task->weights(), alone->weights()), 1e-3);  // of weights up to 1
  });
}

}  // namespace
}  // namespace tutti
