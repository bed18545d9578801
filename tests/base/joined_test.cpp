#include "base/joined.h"

#include <gtest/gtest.h>

#include <vector>

using namespace tutti;

TEST(Joined, PutsTheSeparatorBetweenPartsOnly) {
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string>{"tiny"}, ", "), "tiny");
  EXPECT_EQ(joined(std::vector<std::string>{"tiny", "base", "small"}, ", "), "tiny, base, small");
}

TEST(Joined, APartWithoutTextIsAPartAllTheSame) {
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}, ","), ",b,");
}

TEST(Joined, AsksForTheTextOfWhatIsNone) {
  EXPECT_EQ(joined(std::vector<int>{50257, 50362}, ".", [](int token) { return std::to_string(token); }),
            "50257.50362");
}
