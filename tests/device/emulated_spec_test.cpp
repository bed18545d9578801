#include "device/emulated_spec.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(EmulatedSpec, ParsesSpeedMemoryAndGpu) {
  const auto spec = parse_emulated("emulated:30x:12GB@GPU-1a2b");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_DOUBLE_EQ(spec->speed, 30);
  EXPECT_EQ(spec->memory, Bytes{12'000'000'000});
  EXPECT_EQ(spec->gpu, "GPU-1a2b");
}

TEST(EmulatedSpec, WithoutMemoryHasNoBound) {
  const auto spec = parse_emulated("emulated:0.25x");
  ASSERT_TRUE(spec);
  EXPECT_DOUBLE_EQ(spec->speed, 0.25);
  EXPECT_FALSE(spec->memory);
}

TEST(EmulatedSpec, InvalidSpecIsAUsageErrorThatNamesIt) {
  for (const char* text : {"emulated", "emulated:", "emulated:30", "emulated:0x", "emulated:-3x", "emulated:nanx",
                           "emulated:12GB", "emulated:30x:12", "emulated:30x:12GB:4GB", "emulated:30x:3x",
                           "emulated:30x@", "emulated:30x@x", "emulated:30x:", "emulated:1e99x"}) {
    const auto spec = parse_emulated(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().fault, Fault::usage);
    EXPECT_NE(spec.error().what.find(text), std::string::npos) << spec.error().what;
  }
}

TEST(EmulatedSpec, BytesHaveAUnitInAnyCase) {
  const std::pair<const char*, std::int64_t> known[] = {{"500mb", 500'000'000},
                                                        {"500MB", 500'000'000},
                                                        {"20kB", 20'000},
                                                        {"20 KiB", 20'480},
                                                        {"20kib", 20'480},
                                                        {"1.5mib", 3 << 19},
                                                        {"2GiB", 1LL << 31},
                                                        {"1000000B", 1'000'000},
                                                        {"7b", 7},
                                                        {"0.25Gb", 250'000'000},
                                                        {"1000000GB", 1'000'000'000'000'000}};
  for (const auto& [text, bytes] : known) EXPECT_EQ(parse_bytes(text), Bytes{bytes}) << text;
  for (const char* text : {"", "B", "12", "12 kilo", "-1MB", "0GB", "1TB", "1000001GB", "1000000000000001B", "1e300B",
                           "18446744073709551615B", "5MBB"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(EmulatedSpec, GpuFiguresTakeSpeedAndMemoryInEitherOrder) {
  const auto specs = parse_gpu_figures("12GB:30x,12x:7.5GiB");
  ASSERT_TRUE(specs) << specs.error().text();
  ASSERT_EQ(specs->size(), 2u);
  EXPECT_DOUBLE_EQ((*specs)[0].speed, 30);
  EXPECT_EQ((*specs)[1].memory, Bytes{15LL << 29});
  EXPECT_FALSE(parse_gpu_figures("12GB:30x,8GB"));
  EXPECT_FALSE(parse_gpu_figures("30x"));
  EXPECT_FALSE(parse_gpu_figures("12GB:30x,"));
}

}  // namespace
}  // namespace tutti
