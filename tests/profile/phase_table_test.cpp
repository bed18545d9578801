#include "profile/phase_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

Phase phase(const char* name, double mean, double deviation, double share) {
  return {
      .name = name, .times = {.mean = Seconds(mean / 1000), .deviation = Seconds(deviation / 1000)}, .share = share};
}

/// The note's own example.
StepPhases example() {
  return {.load = phase("Data Load", 12.3, 2.1, 0.082),
          .preprocess = phase("Preprocess", 5.1, 0.8, 0.034),
          .transfer = phase("GPU Transfer", 8.7, 1.2, 0.058),
          .training = phase("Training", 123.4, 5.2, 0.826),
          .total = phase("Total", 149.5, 6.8, 1)};
}

TEST(PhaseTable, ExampleOfTheNoteHasItsLines) {
  PhaseDevices devices{"cuda:0", "cuda:1"};
  devices.data_load.add(0.452, 1);
  devices.model_load.add(0.875, 1);
  const auto text = phase_text(example(), devices);
  EXPECT_THAT(text, HasSubstr("TIMING BREAKDOWN:\n  Data Load:       12.3ms ± 2.1ms (8.2%)"));
  EXPECT_THAT(text, HasSubstr("  Training:       123.4ms ± 5.2ms (82.6%)"));
  EXPECT_THAT(text, HasSubstr("  Data GPU:   45.2%"));
  EXPECT_THAT(text, HasSubstr("NO MAJOR BOTTLENECKS DETECTED"));
  EXPECT_THAT(text, HasSubstr("a second device gains at most 1.21x"));
}

TEST(PhaseTable, MemoryIsOfTheProcessAndOfEachGpuOnce) {
  PhaseDevices devices{"cuda:0", "cuda:0"};
  EXPECT_THAT(phase_text(example(), devices), Not(HasSubstr("MEMORY")));
  devices.process_memory = Bytes{2'000'000'000};
  devices.data_memory = devices.model_memory = Bytes{8'100'000'000};
  const auto text = phase_text(example(), devices);
  EXPECT_THAT(text, HasSubstr("MEMORY:\n  Process:    2.0 GB at its most\n  Model GPU:  8.1 GB at its most"));
  EXPECT_THAT(text, Not(HasSubstr("  Data GPU:   8.1")));
}

TEST(PhaseTable, SlowLoadIsNamedWithFigureAndBound) {
  auto phases = example();
  phases.load.share = 0.45;
  phases.training.share = 0.45;
  const auto text = phase_text(phases, {});
  EXPECT_THAT(text, HasSubstr("DATA_LOADING: 45.0%, more than 20.0%"));
  EXPECT_THAT(text, HasSubstr("UNDERUTILIZED_GPU: 45.0%, less than 50.0%"));
  EXPECT_THAT(text, HasSubstr("not measured"));
  EXPECT_THAT(text, Not(HasSubstr("NO MAJOR")));
  EXPECT_THAT(text, Not(HasSubstr("What helps")));
}

TEST(PhaseTable, UnevenStepsAreBlamedOnLengthsOnlyWhereTheyDiffer) {
  auto phases = example();
  phases.total.times.deviation = Seconds(0.09);
  const auto with = [&](std::vector<double> lengths) {
    return phase_text(phases, {}, {.lengths = std::move(lengths)});
  };
  EXPECT_THAT(with({800, 800, 810}), HasSubstr("OSCILLATION: 60.2%, more than 30.0%"));
  EXPECT_THAT(with({800, 800, 810}), HasSubstr(", batches of one length\n"));
  EXPECT_THAT(with({800, 3000}), HasSubstr(", batches of 800 to 3000 frames\n"));
  EXPECT_THAT(with({}), Not(HasSubstr("batches of")));
}

TEST(PhaseTable, RunBesideOthersHasNoCleanBill) {
  PhaseDevices devices{"cuda:0", "cuda:1"};
  devices.model_load.add(0.875, 1);
  const auto text = phase_text(example(), devices, {.others = "Other programs took 1.9 of 2 cores meanwhile, 95 %\n"});
  EXPECT_THAT(text, Not(HasSubstr("NO MAJOR")));
  EXPECT_THAT(text, HasSubstr("the run was not alone: Other programs took 1.9 of 2 cores"));
}

}  // namespace
}  // namespace tutti
