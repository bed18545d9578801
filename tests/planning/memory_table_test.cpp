#include "planning/memory/memory_table.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "hub/memory_plan.h"

using namespace tutti;

TEST(MemoryTable, ShowsMemoryAndFittingWindowsPerComputeType) {
  const auto table = memory_table({.shape = {128, 1500, 448, 51866, 1280, 32, 32},
                                   .device = "a card",
                                   .available = {16'000'000'000},
                                   .windows = 64,
                                   .beams = 1,
                                   .gpu = true});
  const auto has = [&](const char* part) { return table.find(part) != std::string::npos; };
  EXPECT_TRUE(has("64 windows of 1 sequence each; 16000 MB are free on a card")) << table;
  EXPECT_TRUE(has("float16          3085 MB       246 MB        75 MB     23865 MB     36")) << table;
  EXPECT_TRUE(has("int8_float16     2574 MB       131 MB        75 MB     15982 MB     64")) << table;
}

TEST(MemoryTable, CpuHasNoLinesOfTypesThatItDoesNotComputeIn) {
  const auto table =
      memory_table({.shape = {80, 1500, 448, 51864, 384, 4, 4}, .device = "a CPU", .available = {1 << 30}});
  EXPECT_EQ(table.find(" float16"), std::string::npos) << table;
  EXPECT_EQ(table.find("int8_float16"), std::string::npos) << table;
  EXPECT_NE(table.find("bfloat16"), std::string::npos) << table;
  EXPECT_NE(table.find("int8 "), std::string::npos) << table;
}

TEST(MemoryTable, IsAlsoWrittenAsOneJsonEvent) {
  const auto event = nlohmann::json::parse(memory_json({.shape = {128, 1500, 448, 51866, 1280, 32, 32},
                                                        .device = "a card",
                                                        .available = {16'000'000'000},
                                                        .windows = 32,
                                                        .beams = 1,
                                                        .gpu = true}));
  EXPECT_EQ(event["event"], "memory");
  EXPECT_EQ(event["available_bytes"], 16'000'000'000);
  EXPECT_EQ(event["encoded_ahead"], 4);
  ASSERT_EQ(event["compute_types"].size(), 5U);
  const auto half = event["compute_types"][2];
  EXPECT_EQ(half["compute_type"], "float16");
  EXPECT_EQ(half["window_bytes"], 245'760'000);
  EXPECT_EQ(half["fit"], 36);
  EXPECT_EQ(half["encoded_together"], 8);
  EXPECT_NEAR(half["together_bytes"].get<double>(), 14'569e6 + 7 * 61.44e6, 1e6);
}

TEST(MemoryTable, LargestFittingWindowCountFitsAndOneMoreDoesNot) {
  MemoryQuestion question{
      .shape = {128, 1500, 448, 51866, 1280, 32, 32}, .device = "a card", .available = {16'000'000'000}, .gpu = true};
  const auto of_type = [&](std::size_t type, std::int32_t windows) {
    question.windows = windows;
    return nlohmann::json::parse(memory_json(question))["compute_types"][type];
  };
  for (const std::int32_t beams : {1, 5}) {
    question.beams = beams;
    for (std::size_t type = 0; type < 5; ++type) {
      const auto fit = of_type(type, 1)["fit"].get<std::int32_t>();
      ASSERT_GT(fit, 0);
      EXPECT_LE(of_type(type, fit)["together_bytes"].get<std::int64_t>(), question.available.value);
      EXPECT_GT(of_type(type, fit + 1)["together_bytes"].get<std::int64_t>(), question.available.value);
    }
  }
}

TEST(MemoryTable, CountsWindowsInEightBitsWhereTheProcessorKeepsThem) {
  MemoryQuestion question{.shape = {80, 1500, 448, 51864, 384, 4, 4}, .device = "cpu", .available = {1'000'000'000}};
  const auto wide = memory_table(question);
  question.byte_cross = true;
  const auto narrow = memory_table(question);
  EXPECT_NE(wide.find("int8               89 MB         9 MB"), std::string::npos) << wide;
  EXPECT_NE(narrow.find("int8               89 MB         5 MB"), std::string::npos) << narrow;
}

TEST(MemoryTable, FixedShapesIncludeFillerSequences) {
  MemoryQuestion question{.shape = {128, 1500, 448, 51866, 1280, 32, 32},
                          .device = "a card",
                          .available = {16'000'000'000},
                          .windows = 8,
                          .beams = 5,
                          .gpu = true};
  const auto usual = memory_table(question);
  EXPECT_EQ(usual.find("fill up"), std::string::npos) << usual;
  EXPECT_NE(usual.find("float16          3085 MB       246 MB        75 MB      9213 MB     18"), std::string::npos)
      << usual;
  question.fillers = kFixedRows;
  const auto fixed = memory_table(question);
  EXPECT_NE(fixed.find("8 windows of 5 beams each, 2 encoded ahead, 8 sequences that fill up steps;"),
            std::string::npos)
      << fixed;
  EXPECT_NE(fixed.find("float16          3085 MB       246 MB        75 MB      9387 MB     17"), std::string::npos)
      << "eight sequences more. " << fixed;
}
