#include "cli/memory_table.h"

#include <gtest/gtest.h>

using namespace tutti;

TEST(MemoryTable, ShowsForEveryComputeTypeWhatTheRunTakesAndHowManyWindowsWouldFit) {
  const auto table = memory_table({.shape = {128, 1500, 448, 51866, 1280, 32, 32},
                                   .device = "a card",
                                   .available = {16'000'000'000},
                                   .windows = 64,
                                   .beams = 1});
  const auto has = [&](const char* part) { return table.find(part) != std::string::npos; };
  EXPECT_TRUE(has("64 windows of 1 sequence each; 16000 MB are free on a card")) << table;
  EXPECT_TRUE(has("float16           3078 MB       246 MB        74 MB     23654 MB     40")) << table;
  EXPECT_TRUE(has("int8_float16")) << table;
}
