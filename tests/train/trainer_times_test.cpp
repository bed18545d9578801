// What a training takes for steps and what for waiting.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "small_training.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

/// Another process, whose feed is slow.
class SlowPeers : public Peers {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  void sum(at::Tensor&) override {}
  std::vector<std::string> gather(const std::string& output) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return {output};
  }
  Result<void> run_and_wait(const std::string&, const std::function<Result<void>()>& work) override { return work(); }
};

TEST(Trainer, WaitingForTheFeedsOfOtherProcessesIsWaiting) {
  const TempFolder out;
  SlowPeers peers;
  Training training(out.path());
  training.peers = &peers;
  training.options.max_steps = 4;
  ASSERT_EQ(training.run(), TrainingEnd::finished);
  EXPECT_GE(training.watcher.waited, 4 * 0.02);
}

TEST(Trainer, WorkBetweenStepsIsNoStepTime) {
  const TempFolder out;
  Training training(out.path());
  training.options.eval_steps = 1;
  training.options.max_steps = 5;
  training.evaluate = []() -> Result<TaskScores> {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return scored_by(0.5);
  };
  Trainer trainer({.task = *training.task,
                   .step = training.step,
                   .next = batches_behind(""),
                   .evaluate = training.evaluate,
                   .watcher = training.watcher},
                  training.options, {});
  ASSERT_EQ(trainer.run(), TrainingEnd::finished);
  EXPECT_LT(trainer.ring().stepping.count(), training.watcher.seconds + 0.75) << "half of the evaluations' time";
}

}  // namespace
}  // namespace tutti
