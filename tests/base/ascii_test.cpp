#include <gtest/gtest.h>

#include "base/strings.h"

using namespace tutti;

TEST(AsciiLower, LowersAsciiOnlyAndKeepsOtherBytes) {
  EXPECT_EQ(ascii_lower(".FLAC"), ".flac");
  EXPECT_EQ(ascii_lower("@[`{ AZaz 09"), "@[`{ azaz 09");
  EXPECT_EQ(ascii_lower("ÄÉ"), "ÄÉ");
}
