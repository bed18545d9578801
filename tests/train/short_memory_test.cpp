// Trainings that memory is too short for.

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "small_training.h"
#include "support/memory_limit.h"
#include "support/temp_folder.h"
#include "train/optimiser_step/row_limit.h"

namespace tutti {
namespace {

TEST(Trainer, FailedLastEvaluationKeepsTheCheckpoint) {
  const TempFolder out;
  Training training(out.path());
  training.options.eval_steps = 100;
  training.options.max_steps = 2;
  training.evaluate = []() -> Result<TaskScores> { throw std::bad_alloc(); };
  const auto end = training.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::exhausted);
  EXPECT_EQ(end.error().what, "the network could not be evaluated, memory ran out: out of memory");
  EXPECT_EQ(checkpoints_in(out.path()), (std::vector<fs::path>{"step-00000002"}));
}

/// A task whose weights cannot be copied, or which once has no memory to exchange the weights after its checkpoint.
class HeavyTask : public Task {
 public:
  enum class Lacks { space_for_copies, space_for_averages };
  HeavyTask(Task& real, Lacks lacks) : lacks_(lacks), real_(real) {}
  const std::vector<Parameter>& trained() const override {
    if (lacks_ == Lacks::space_for_averages && ++requests_ == 2) throw std::bad_alloc();
    return real_.trained();
  }
  at::Device device() const override { return real_.device(); }
  TaskBatch prepare(const Batch& batch) override { return real_.prepare(batch); }
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override {
    return real_.loss_sum(inputs, dropout);
  }
  std::map<std::string, std::string> files(const std::string& type) const override { return real_.files(type); }
  std::vector<Parameter> weights() const override {
    if (lacks_ == Lacks::space_for_copies) throw std::bad_alloc();
    return real_.weights();
  }

 private:
  Lacks lacks_;
  mutable int requests_ = 0;
  Task& real_;
};

TEST(Trainer, OutOfMemoryForACheckpointIsReportedAsSuch) {
  const TempFolder out;
  Training training(out.path());
  HeavyTask heavy(*training.task, HeavyTask::Lacks::space_for_copies);
  training.options.max_steps = 2;
  training.options.save_steps = 1;
  Trainer trainer({.task = heavy, .step = training.step, .next = batches_behind(""), .watcher = training.watcher},
                  training.options, {});
  const auto end = trainer.run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::exhausted);
  EXPECT_NE(end.error().what.find("the checkpoint of step 1 could not be copied"), std::string::npos)
      << end.error().what;
}

TEST(Trainer, OutOfMemoryForAveragesKeepsTheCheckpoint) {
  const TempFolder out;
  Training training(out.path());
  HeavyTask heavy(*training.task, HeavyTask::Lacks::space_for_averages);
  training.options.max_steps = 2;
  const auto end = [&] {
    Trainer trainer({.task = heavy,
                     .step = training.step,
                     .next = batches_behind(""),
                     .evaluate = [] { return Result<TaskScores>(scored_by(0)); },
                     .watcher = training.watcher},
                    training.options, {});
    return trainer.run();
  }();  // what it has handed to its writer is written
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::exhausted);
  EXPECT_EQ(checkpoints_in(out.path()), (std::vector<fs::path>{"step-00000002"}));
}

TEST(Trainer, RestoredRowLimitResumesToTheSameBits) {
  const TempFolder whole, parts;
  Training straight(whole.path());
  straight.step.limit_rows(3);
  straight.options.max_steps = 6;
  ASSERT_EQ(straight.run(), TrainingEnd::finished);
  Training first(parts.path());
  first.step.limit_rows(3);
  first.options.max_steps = 3;
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  Training second(parts.path());
  second.options.max_steps = 6;
  ASSERT_EQ(second.run(), TrainingEnd::finished);
  EXPECT_EQ(second.step.row_limit(), 3);
  EXPECT_EQ(largest_difference(second.task->weights(), straight.task->weights()), 0);
}

TEST(Trainer, MoreMemoryThanBeforeDropsTheRowLimit) {
  const TempFolder out;
  Training first(out.path());
  first.options.max_steps = 2;
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  for (const auto& [memory, limit] : {std::pair(std::int64_t{1000}, std::optional<std::int64_t>()),
                                      std::pair(std::int64_t{0}, std::optional<std::int64_t>(3))}) {
    Training again(out.path());
    auto state = restore_checkpoint(out.path() / "checkpoints/step-00000002", *again.task, again.step).value();
    state.row_limits = {{.rows = 3, .memory = Bytes{memory}}};
    const Trainer trainer(
        {.task = *again.task, .step = again.step, .next = batches_behind(""), .watcher = again.watcher}, again.options,
        state);
    EXPECT_EQ(again.step.row_limit(), limit) << memory;
  }
}

TEST(Trainer, RestoredSplitKeepsTheMemoryItWasFoundWith) {
  const TempFolder out;
  Training first(out.path());
  first.options.max_steps = 2;
  ASSERT_EQ(first.run(), TrainingEnd::finished);
  const MemoryLimit less(rlim_t{1} << 40);
  const Bytes now = memory_for(at::kCPU), before{2 * now.value};
  ASSERT_GT(now.value, 0);
  for (const auto& [fits, found] : {std::pair(std::int64_t{3}, before), std::pair(std::int64_t{2}, now)}) {
    const TempFolder elsewhere;
    Training again(elsewhere.path());
    auto state = restore_checkpoint(out.path() / "checkpoints/step-00000002", *again.task, again.step).value();
    state.row_limits = {{.rows = 3, .memory = before}};
    again.options.max_steps = 3;
    Trainer trainer({.task = *again.task,
                     .step = again.step,
                     .next = batches_behind(state.positions.front()),
                     .watcher = again.watcher},
                    again.options, state);
    again.step.limit_rows(fits);
    ASSERT_EQ(trainer.run(), TrainingEnd::finished);
    EXPECT_EQ(trainer.state().row_limits.at(0).rows, fits);
    EXPECT_EQ(trainer.state().row_limits.at(0).memory, found) << "a larger card may yet hold no more";
  }
}

TEST(RowLimit, IsDroppedWithFivePercentMoreMemory) {
  const Bytes card{80'000'000'000};
  EXPECT_FALSE(has_more(card, card));
  EXPECT_FALSE(has_more(Bytes{80'500'000'000}, card)) << "the same card under another driver";
  EXPECT_TRUE(has_more(Bytes{96'000'000'000}, card));
  EXPECT_TRUE(has_more(Bytes{}, card)) << "no limit any more";
  EXPECT_FALSE(has_more(card, Bytes{})) << "there was none";
}

TEST(RowLimit, IsReadAsItIsShown) {
  const auto read = read_row_limit(show_row_limit({.rows = 12, .memory = Bytes{34'000'000'000}}));
  EXPECT_EQ(read.rows, 12);
  EXPECT_EQ(read.memory, Bytes{34'000'000'000});
  for (const char* text : {"", "12", "12 of", "-1 of 0", "12 of x"})
    EXPECT_THROW(read_row_limit(text), std::invalid_argument) << text;
}

TEST(RowLimit, OlderCheckpointsHaveNone) {
  TrainingState state{.step = 7};
  state.row_limits = {{.rows = 4}, {}};
  const auto text = show_state(state);
  EXPECT_EQ(read_state(text).value().row_limits.at(0).rows, 4);
  auto older = nlohmann::json::parse(text);
  older.erase("row_limits");
  EXPECT_TRUE(read_state(older.dump()).value().row_limits.empty());
}

}  // namespace
}  // namespace tutti
