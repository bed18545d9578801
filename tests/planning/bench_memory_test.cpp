#include "planning/memory/bench_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr ModelShape kLargeV3{128, 1500, 448, 51866, 1280, 32, 32};

/// A GPU of 16 GB, and a CPU that nothing is known of.
std::vector<BenchNeed> needs(const std::vector<BenchSetting>& settings) {
  return bench_needs(kLargeV3, settings,
                     {{"cuda:0", {.name = "a card", .gpu = true, .available = {16'000'000'000}, .byte_cross = true}}});
}

}  // namespace

TEST(BenchNeeds, LargeV3With64WindowsFits16GBOnlyInInt8) {
  const auto found = needs({{"cuda:0", "int8_float16", 64}, {"cuda:0", "int8", 64}, {"cuda:0", "float16", 64}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0].fits());
  EXPECT_EQ(found[1].together, found[0].together) << "a GPU takes int8 as int8_float16";
  EXPECT_FALSE(found[2].fits());
  const auto& plan = found[0].plan;
  EXPECT_EQ(found[0].together.value, plan.total(64, 1).value + plan.more_encoded(kEncodedTogether).value);
}

TEST(BenchNeeds, EachBatchSizeIsAColumn) {
  const auto text = bench_needs_text(needs({{"cuda:0", "float16", 32},
                                            {"cuda:0", "float16", 64},
                                            {"cuda:0", "int8_float16", 32},
                                            {"cuda:0", "int8_float16", 64}}));
  EXPECT_EQ(text,
            "cuda:0: 16000 MB are free\n"
            "                   weights    per window  per sequence    32 windows    64 windows\n"
            "float16            3085 MB        246 MB         40 MB     13831 MB      21565 MB*\n"
            "int8_float16       2574 MB        131 MB         40 MB      9173 MB      14112 MB \n"
            "* does not fit\n");
}

TEST(BenchNeeds, SlotsHoldThePromptAndTheSampledTokensAlone) {
  const auto found = needs({{"cuda:0", "float16", 1}});
  EXPECT_EQ(found[0].plan.sequence, memory_plan(kLargeV3, on_gpu(*number_sizes("float16")), 232).sequence);
}

TEST(BenchNeeds, UnknownDeviceMemoryIsNotReportedAsTooSmall) {
  const auto found = needs({{"cpu", "float32", 8}});
  EXPECT_THAT(bench_needs_text(found), HasSubstr("cpu: how much is free is not known here\n"));
  EXPECT_THAT(bench_needs_text(found), Not(HasSubstr("does not fit")));
  const auto reported = nlohmann::json::parse(bench_needs_json(found))["settings"][0];
  EXPECT_EQ(reported["device"], "cpu");
  EXPECT_EQ(reported["together_bytes"], found[0].together.value);
  EXPECT_TRUE(reported["available_bytes"].is_null());
  EXPECT_TRUE(reported["fits"].is_null());
}

TEST(DeviceMemory, T4HasItsTotalLessDriverAndContext) {
  const auto card = card_of_model("T4");
  ASSERT_TRUE(card);
  EXPECT_EQ(card->available, Bytes{(15'360LL - 256 - 512) << 20});
  EXPECT_FALSE(card_of_model("T40"));
}

TEST(DeviceMemory, TuringLacksTheTypesThatCameWithAmpere) {
  const auto turing = *card_of_model("T4");
  for (const char* type : {"tf32", "bfloat16"}) EXPECT_FALSE(computes_in(type, turing)) << type;
  for (const char* type : {"float32", "float16", "int8_float16", "int8", "auto", "default"})
    EXPECT_TRUE(computes_in(type, turing)) << type;
  auto ampere = turing;
  ampere.capability = ComputeCapability{8, 0};
  EXPECT_TRUE(computes_in("bfloat16", ampere));
  ampere.capability.reset();
  EXPECT_TRUE(computes_in("bfloat16", ampere)) << "not known";
}

TEST(DeviceMemory, EmulatedDeviceHasItsDeclaredMemory) {
  const auto card = device_memory("emulated:30x:16GB");
  ASSERT_TRUE(card);
  EXPECT_TRUE(card->gpu);
  EXPECT_EQ(card->available, Bytes{16'000'000'000});
  const auto cpu = device_memory("cpu");
  ASSERT_TRUE(cpu);
  EXPECT_FALSE(cpu->gpu);
  EXPECT_GT(cpu->available, Bytes{});
  EXPECT_FALSE(device_memory("cuda:63"));
}
