#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/files.h"
#include "support/environment.h"
#include "support/temp_folder.h"
#include "support/test_models.h"
#include "worker/compute_type.h"
#include "worker/self_test.h"

using namespace tutti;
using testing::HasSubstr;

TEST(SelfTest, TheFastestTypeThatIsLikeFloat32IsTaken) {
  const std::vector<TypeTrial> trials{
      {ComputeType::float32, 0.9, 1.0}, {ComputeType::bfloat16, 0.5, 0.9999}, {ComputeType::int8, 0.3, 0.998}};
  EXPECT_EQ(fastest_alike(trials).type, ComputeType::int8);
}

TEST(SelfTest, ATypeThatIsUnlikeFloat32OrNoNumberIsNeverTaken) {
  const std::vector<TypeTrial> trials{{ComputeType::float32, 0.9, 1.0},
                                      {ComputeType::bfloat16, 0.5, std::numeric_limits<double>::quiet_NaN()},
                                      {ComputeType::int8, 0.3, 0.9}};
  EXPECT_EQ(fastest_alike(trials).type, ComputeType::float32);
}

TEST(SelfTest, AnEncoderOrLogitsThatAreNoNumbersAreNotOutweighedByTheOther) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(lesser_likeness(0.9, 0.8), 0.8);
  EXPECT_EQ(lesser_likeness(0.8, 0.9), 0.8);
  EXPECT_TRUE(std::isnan(lesser_likeness(none, 0.9)));
  EXPECT_TRUE(std::isnan(lesser_likeness(0.9, none)));
}

TEST(AutomaticType, IsTriedAgainNextTimeWhereATypeHadNoMemory) {
  const TempFolder cache;
  const auto file = cache / "result";
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<TypeTrial> poor{{ComputeType::float32, 0.9, 1.0},
                                    {.type = ComputeType::bfloat16, .likeness = none, .no_memory = true},
                                    {ComputeType::int8, 0.5, 0.999}};
  const auto choice = conclude(poor, file);
  EXPECT_EQ(choice.type, ComputeType::int8) << "a type without results is never the fastest";
  EXPECT_EQ(choice.why,
            "fastest in the self-test, per window: float32 900.0 ms, no memory for bfloat16, int8 500.0 ms");
  EXPECT_FALSE(std::filesystem::exists(file)) << "next time there may be more memory";
  const std::vector<TypeTrial> all{{ComputeType::float32, 0.9, 1.0}, {ComputeType::int8, 0.5, 0.999}};
  EXPECT_EQ(conclude(all, file).type, ComputeType::int8);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(SelfTest, ATypeThatTheDeviceCannotRunIsLeftOutAndTheOthersAreTried) {
  const CaughtFault no_such_product{.error = {Fault::device, "CUBLAS_STATUS_NOT_SUPPORTED"}};
  const CaughtFault no_memory{.error = {Fault::exhausted, "out of memory"}, .out_of_memory = true};
  const CaughtFault lost{.error = {Fault::device, "an illegal memory access"}, .fatal = true};
  for (const ComputeType type : {ComputeType::bfloat16, ComputeType::int8_float16}) {
    EXPECT_TRUE(can_leave_out(type, no_such_product)) << type.name();
    EXPECT_TRUE(can_leave_out(type, no_memory)) << type.name();
    EXPECT_FALSE(can_leave_out(type, lost)) << type.name();
  }
  EXPECT_TRUE(can_leave_out(ComputeType::float32, no_memory)) << "the usual type is taken untested then";
  EXPECT_FALSE(can_leave_out(ComputeType::float32, no_such_product)) << "nothing is left to compare with";
}

TEST(SelfTest, EveryTypeOfThisProcessorIsTriedOnTheModelAndAudio) {
  TUTTI_NEEDS_TINY_MODEL();
  const auto trials = try_types(tiny_model(), at::kCPU, ability_of(at::kCPU));
  ASSERT_TRUE(trials) << trials.error().text();
  ASSERT_GE(trials->size(), 2U);
  EXPECT_EQ(trials->front().type, ComputeType::float32);
  for (const auto& trial : *trials) {
    EXPECT_GE(trial.likeness, kAlike) << trial.type.name();
    EXPECT_GT(trial.seconds, 0) << trial.type.name();
  }
}

TEST(AutomaticType, SelfTestResultIsCachedPerDeviceBuildAndModel) {
  TUTTI_NEEDS_TINY_MODEL();
  const TempFolder cache;
  const ScopedVariable variable("TUTTI_CACHE", cache.path().c_str());
  const SelfTestScope scope{tiny_model(), "a device", "a build"};
  const auto ability = ability_of(at::kCPU);
  const auto first = automatic_type(scope, at::kCPU, ability);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_THAT(first->why, HasSubstr("float32 "));
  const auto folder = cache.path() / "self-tests";
  const auto result = std::filesystem::directory_iterator(folder)->path();
  // Another result in the same file shows that it is read and no test is run.
  ASSERT_TRUE(write_file_atomically(result, "bfloat16\nby hand"));
  EXPECT_EQ(automatic_type(scope, at::kCPU, ability)->why, "by hand");
  EXPECT_EQ(automatic_type(scope, at::kCPU, ability)->type, ComputeType::bfloat16);
  ASSERT_TRUE(write_file_atomically(result, "nonsense"));
  EXPECT_THAT(automatic_type(scope, at::kCPU, ability)->why, HasSubstr("float32 ")) << "tested again";
  auto other = scope;
  other.build = "another build";
  ASSERT_TRUE(automatic_type(other, at::kCPU, ability));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()), 2);
}

TEST(AutomaticType, SelfTestResultHoldsOnlyForItsThreadCount) {
  const TempFolder cache;
  const ScopedVariable variable("TUTTI_CACHE", cache.path().c_str());
  const int usual = at::get_num_threads();
  for (const int threads : {1, 2, 1}) {
    at::set_num_threads(threads);
    EXPECT_TRUE(compute_type_for("auto", TUTTI_SOURCE_DIR "/models/nano", at::kCPU, "a build"));
  }
  at::set_num_threads(usual);
  const std::filesystem::directory_iterator results(cache.path() / "self-tests");
  EXPECT_EQ(std::distance(results, std::filesystem::directory_iterator()), 2);
}
