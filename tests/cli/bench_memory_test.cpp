#include "cli/bench/bench_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr ModelShape kLargeV3{128, 1500, 448, 51866, 1280, 32, 32};

/// A card of 16 GB, and a CPU that nothing is known of.
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
  EXPECT_EQ(found[0].together, found[0].plan.total(64, 1));
}

TEST(BenchNeeds, ReportMemoryAndFitOfEverySetting) {
  const auto text = bench_needs_text(needs({{"cuda:0", "float16", 1}, {"cuda:0", "float16", 64}}));
  EXPECT_THAT(text, HasSubstr("cuda:0 float16 batch 64                    3085 MB       246 MB"
                              "          75 MB     23840 MB     16000 MB  does not fit\n"));
  EXPECT_THAT(text, HasSubstr("     16000 MB  fits\n"));
}

TEST(BenchNeeds, UnknownDeviceMemoryIsNotReportedAsTooSmall) {
  const auto found = needs({{"cpu", "float32", 8}});
  EXPECT_THAT(bench_needs_text(found), HasSubstr("?  not known here\n"));
  EXPECT_THAT(bench_needs_text(found), Not(HasSubstr("does not fit")));
  const auto reported = nlohmann::json::parse(bench_needs_json(found))["settings"][0];
  EXPECT_EQ(reported["device"], "cpu");
  EXPECT_EQ(reported["together_bytes"], found[0].together.value);
  EXPECT_TRUE(reported["available_bytes"].is_null());
  EXPECT_TRUE(reported["fits"].is_null());
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
