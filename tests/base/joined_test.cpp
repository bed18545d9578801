#include <gtest/gtest.h>

#include <vector>

#include "base/strings.h"

using namespace tutti;

TEST(Joined, PutsTheSeparatorBetweenPartsOnly) {
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string>{"tiny"}, ", "), "tiny");
  EXPECT_EQ(joined(std::vector<std::string>{"tiny", "base", "small"}, ", "), "tiny, base, small");
}

TEST(Joined, EmptyPartKeepsItsSeparator) {
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}, ","), ",b,");
}

TEST(Joined, ConvertsElementsWithTheGivenFunction) {
  EXPECT_EQ(joined(std::vector<int>{50257, 50362}, ".", [](int token) { return std::to_string(token); }),
            "50257.50362");
}

TEST(Split, SplitsJoinedTextExceptAnEmptyEnd) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("", ','), Parts{});
  EXPECT_EQ(split("tiny", ','), Parts{"tiny"});
  EXPECT_EQ(split("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split(",a,", ','), (Parts{"", "a"}));
  EXPECT_EQ(joined(split("50257.50362", '.'), "."), "50257.50362");
}
