#include <gtest/gtest.h>

#include <vector>

#include "base/strings.h"

using namespace tutti;

namespace {
const std::vector<std::string> kNames{"transcribe", "output-dir", "output-format", "language"};
}

TEST(NearestName, ASlipOfTheFingerFindsItsName) {
  EXPECT_EQ(nearest_name("transcibe", kNames), "transcribe");
  EXPECT_EQ(nearest_name("langauge", kNames), "language");
  EXPECT_EQ(nearest_name("output-fromat", kNames), "output-format");
}

TEST(NearestName, AnotherWordFindsNothing) {
  EXPECT_EQ(nearest_name("serve", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
}
