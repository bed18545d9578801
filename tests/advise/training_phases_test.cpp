#include "advise/training_phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

std::vector<std::string> names_of(const std::vector<NamedRule>& rules) {
  std::vector<std::string> names;
  for (const NamedRule& rule : rules) names.emplace_back(rule.name);
  return names;
}

TEST(NoteRules, ExampleOfTheNoteHasNoMajorBottleneck) {
  EXPECT_TRUE(rules_that_hold({.load = 0.082,
                               .transfer = 0.058,
                               .training = 0.826,
                               .variation = 0.05,
                               .data_gpu = 0.452,
                               .model_gpu = 0.875})
                  .empty());
}

TEST(NoteRules, EachHoldsBeyondItsOwnBound) {
  const RuleFigures good{.load = 0.1, .transfer = 0.1, .training = 0.8, .variation = 0.1, .model_gpu = 0.9};
  using testing::ElementsAre;
  auto f = good;
  f.load = 0.21;
  EXPECT_THAT(names_of(rules_that_hold(f)), ElementsAre("DATA_LOADING"));
  f = good, f.transfer = 0.16;
  EXPECT_THAT(names_of(rules_that_hold(f)), ElementsAre("GPU_TRANSFER"));
  f = good, f.training = 0.49;
  EXPECT_THAT(names_of(rules_that_hold(f)), ElementsAre("UNDERUTILIZED_GPU"));
  f = good, f.variation = 0.31;
  EXPECT_THAT(names_of(rules_that_hold(f)), ElementsAre("OSCILLATION"));
  f = good, f.model_gpu = 0.69;
  EXPECT_THAT(names_of(rules_that_hold(f)), ElementsAre("LOW_MODEL_GPU_UTIL"));
  f = good, f.data_gpu = 0.81;
  EXPECT_THAT(names_of(rules_that_hold(f)), ElementsAre("DATA_GPU_OVERLOADED"));
}

TEST(NoteRules, TrainingsShareReplacesAGpuThatIsNotMeasured) {
  EXPECT_THAT(names_of(rules_that_hold({.load = 0.1, .training = 0.6})), testing::ElementsAre("LOW_MODEL_GPU_UTIL"));
}

TEST(TwoDevices, ExampleOfTheNoteGainsAtMostAFifth) {
  StepPhases phases;
  phases.load.times.mean = Seconds(0.0123);
  phases.preprocess.times.mean = Seconds(0.0051);
  phases.transfer.times.mean = Seconds(0.0087);
  phases.training.times.mean = Seconds(0.1234);
  const auto both = two_devices(phases);
  EXPECT_NEAR(both.one.count(), 0.1495, 1e-9);
  EXPECT_NEAR(both.gain, 1.21, 0.005);
  EXPECT_LE(both.gain, 1.2116);
}

}  // namespace
}  // namespace tutti
