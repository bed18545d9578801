#include "train/optimiser_step/step.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cmath>
#include <new>
#include <oneapi/dnnl/dnnl_common.hpp>

#include "small_whisper.h"
#include "support/log_capture.h"
#include "train/checkpoint/training_state.h"

namespace tutti {
namespace {

TEST(TrainStep, BatchesThatAreAccumulatedMakeTheStepOfTheBigBatch) {
  const auto whole_task = small_task();
  const auto parts_task = small_task();
  TrainStep whole(*whole_task, {}, {});
  TrainStep parts(*parts_task, {}, {});
  for (std::int64_t number = 1; number <= 5; ++number) {
    const auto batch = whole_task->prepare(small_batch(8 * number, 8));
    const std::vector<TaskBatch> cut{rows_of(batch, 0, 1), rows_of(batch, 1, 4), rows_of(batch, 5, 3)};
    const auto a = whole.run({&batch, 1}, number, 1e-2);
    const auto b = parts.run(cut, number, 1e-2);
    EXPECT_NEAR(a.loss, b.loss, 1e-5 * a.loss) << number;
    EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4 * a.gradient_norm) << number;
    EXPECT_EQ(a.targets, b.targets);
  }
}

TEST(TrainStep, CountsShapesThatNoEarlierStepHad) {
  const auto task = small_task();
  TrainStep step(*task, {}, {});
  std::int64_t number = 0;
  const auto run = [&](std::vector<TaskBatch> batches) { return step.run(batches, ++number, 1e-3); };
  const auto batch = task->prepare(small_batch(0, 4));
  const auto first = run({batch, batch}), again = run({batch}), shorter = run({batch, rows_of(batch, 0, 3)});
  EXPECT_EQ(first.shapes, 1);
  EXPECT_EQ(first.new_shapes, 1);
  EXPECT_EQ(again.new_shapes, 0);
  EXPECT_EQ(shorter.shapes, 2);
  EXPECT_EQ(shorter.new_shapes, 1);
  step.limit_rows(2);
  EXPECT_EQ(run({batch}).new_shapes, 1) << "pieces of a batch are shapes, too";
}

TEST(TrainStep, LearnsASmallSet) {
  const auto task = small_task();
  TrainStep step(*task, {}, {});
  double first = 0, last = 0;
  for (std::int64_t number = 1; number <= 60; ++number) {
    const auto batch = task->prepare(small_batch(4 * number, 8));
    last = step.run({&batch, 1}, number, 1e-2).loss;
    if (number == 1) first = last;
  }
  EXPECT_GT(first, 6);  // about ln 1765
  EXPECT_LT(last, 0.5);
}

TEST(TrainStep, NonFiniteStepIsSkippedAndChangesNothing) {
  const auto task = small_task();
  const auto untouched = small_task();
  TrainStep step(*task, {}, {.ema = 0.9});
  auto batch = task->prepare(small_batch(0, 4));
  batch.inputs[0].mutable_data_ptr<float>()[7] = std::nanf("");
  EXPECT_FALSE(step.run({&batch, 1}, 1, 1e-2).finite);
  EXPECT_EQ(largest_difference(task->weights(), untouched->weights()), 0);
  const auto good = task->prepare(small_batch(0, 4));
  EXPECT_TRUE(step.run({&good, 1}, 2, 1e-2).finite);
}

TEST(TrainStep, OtherPrecisionResumesWithItsOwnLossScale) {
  const auto task = small_task();
  TrainStep rounded(*task, {}, {.precision = StepPrecision::bfloat16});
  rounded.resume({.is_scaled = true, .loss_scale = 65536, .scaled_steps = 7});
  EXPECT_EQ(rounded.state().loss_scale, 1);
  EXPECT_FALSE(rounded.seeks_scale()) << "a step that is no finite number counts";
  TrainStep half(*task, {}, {.precision = StepPrecision::float16});
  half.resume({.loss_scale = 1});
  EXPECT_EQ(half.state().loss_scale, 65536);
  half.resume({.is_scaled = true, .loss_scale = 1024, .scaled_steps = 7});
  EXPECT_EQ(half.state().loss_scale, 1024);
  EXPECT_EQ(half.state().scaled_steps, 7);
  EXPECT_TRUE(half.seeks_scale());
}

TEST(TrainStep, LossScaleOfOneIsResumed) {
  const TrainingState before{.numbers = {.is_scaled = true, .loss_scale = 1, .scaled_steps = 3}};
  const auto task = small_task();
  TrainStep half(*task, {}, {.precision = StepPrecision::float16});
  half.resume(read_state(show_state(before)).value().numbers);
  EXPECT_EQ(half.state().loss_scale, 1);
  EXPECT_EQ(half.state().scaled_steps, 3);
  EXPECT_FALSE(half.seeks_scale()) << "the next overflow is the samples' own";
}

TEST(TrainStep, AverageIsBetweenFirstAndLastWeights) {
  const auto task = small_task();
  const auto before = small_task();
  TrainStep step(*task, {}, {.ema = 0.5});
  const auto batch = task->prepare(small_batch(0, 4));
  step.run({&batch, 1}, 1, 1e-2);
  const auto half = step.averages();
  for (std::size_t i = 0; i < half.size(); ++i) {
    const auto middle = (task->trained()[i].value + before->trained()[i].value).detach() / 2;
    EXPECT_TRUE(at::allclose(half[i].value, middle, 1e-5, 1e-6)) << half[i].name;
  }
}

/// Fails for more than `space` rows at once, as a small device or the host does, each with its own error.
class CrampedTask : public Task {
 public:
  using Fail = void (*)();
  CrampedTask(Task& real, std::int64_t space, Fail fail) : real_(real), most_rows_(space), fail_(fail) {}
  const std::vector<Parameter>& trained() const override { return real_.trained(); }
  at::Device device() const override { return real_.device(); }
  TaskBatch prepare(const Batch& batch) override { return real_.prepare(batch); }
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override {
    if (inputs[0].size(0) > most_rows_) fail_();
    return real_.loss_sum(inputs, dropout);
  }
  std::map<std::string, std::string> files(const std::string& type) const override { return real_.files(type); }
  std::vector<Parameter> weights() const override { return real_.weights(); }

 private:
  Task& real_;
  std::int64_t most_rows_;
  Fail fail_;
};

void fail_on_card() {
  throw c10::OutOfMemoryError({}, "out of memory on purpose");
}
void fail_in_torch_on_the_host() {
  throw c10::Error({}, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes. Error code 12");
}
void fail_in_onednn() {  // for lack of space for code that it has generated for a shape
  throw dnnl::error(dnnl_out_of_memory, "could not create a primitive");
}
void fail_in_this_program() {
  throw std::bad_alloc();
}

TEST(TrainStep, WhereMemoryRunsOutTheBatchIsSplitAndTheStepStaysTheSame) {
  for (const auto run_out : {fail_on_card, fail_in_torch_on_the_host, fail_in_onednn, fail_in_this_program}) {
    const auto roomy = small_task();
    const auto real = small_task();
    CrampedTask cramped(*real, 2, run_out);
    TrainStep whole(*roomy, {}, {});
    TrainStep split(cramped, {}, {});
    const auto batch = roomy->prepare(small_batch(0, 7));
    const auto a = whole.run({&batch, 1}, 1, 1e-2);
    const auto b = split.run({&batch, 1}, 1, 1e-2);
    EXPECT_EQ(split.row_limit(), 2);
    EXPECT_NEAR(a.loss, b.loss, 1e-5);
    EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4);
  }
}

TEST(TrainStep, SmallBatchIsSplitByItsOwnSizeNotTheRowLimit) {
  const auto real = small_task();
  CrampedTask cramped(*real, 2, fail_on_card);
  TrainStep step(cramped, {}, {});
  step.limit_rows(32);
  const auto batch = real->prepare(small_batch(0, 7));
  LogCapture log;
  step.run({&batch, 1}, 1, 1e-2);
  EXPECT_EQ(step.row_limit(), 2);
  EXPECT_EQ(log.count("4 samples are computed together instead of 7"), 1);
  EXPECT_EQ(log.count("memory ran out"), 2) << "8 or 16 would have been all of them again";
}

TEST(TrainStep, SingleRowThatDoesNotFitIsReported) {
  const auto real = small_task();
  CrampedTask cramped(*real, 0, fail_on_card);
  TrainStep step(cramped, {}, {});
  const auto batch = real->prepare(small_batch(0, 3));
  LogCapture log;
  EXPECT_THROW(step.run({&batch, 1}, 1, 1e-2), c10::OutOfMemoryError);
  EXPECT_EQ(log.count("not one sample at a time fits"), 1);
}

TEST(TrainStep, OtherErrorsAreNotTakenForLackOfMemory) {
  const auto real = small_task();
  CrampedTask broken(*real, 2, [] { throw c10::Error({}, "shapes cannot be multiplied"); });
  TrainStep step(broken, {}, {});
  const auto batch = real->prepare(small_batch(0, 4));
  EXPECT_THROW(step.run({&batch, 1}, 1, 1e-2), c10::Error);
  EXPECT_FALSE(step.row_limit());
}

TEST(TrainStep, RoundedProductsLearnToo) {
  for (const auto precision : {StepPrecision::bfloat16, StepPrecision::float16}) {
    const auto task = small_task();
    TrainStep step(*task, {}, {.precision = precision});
    double last = 100;
    for (std::int64_t number = 1; number <= 60; ++number) {
      const auto batch = task->prepare(small_batch(4 * number, 8));
      const auto outcome = step.run({&batch, 1}, number, 1e-2);
      if (outcome.finite) last = outcome.loss;
    }
    EXPECT_LT(last, 1);
  }
}

TEST(CardPrecision, TypesMissingBeforeAmpereAreNamedUnlessGpuIsUnknown) {
  constexpr int kTuring = 75, kAmpere = 80, kUnknown = 0;
  for (const auto precision : {StepPrecision::bfloat16, StepPrecision::tf32}) {
    EXPECT_NE(unsupported_reason(precision, kTuring).find("Ampere"), std::string::npos);
    EXPECT_EQ(unsupported_reason(precision, kAmpere), "");
    EXPECT_EQ(unsupported_reason(precision, kUnknown), "");
  }
  for (const auto precision : {StepPrecision::float32, StepPrecision::float16})
    EXPECT_EQ(unsupported_reason(precision, kTuring), "");
}

}  // namespace
}  // namespace tutti
