#include <gtest/gtest.h>

#include "base/strings.h"

using namespace tutti;

TEST(Trimmed, TakesBlanksFromBothEndsAndNoneFromWithin) {
  EXPECT_EQ(trimmed(" \t two  words\r\n"), "two  words");
  EXPECT_EQ(trimmed("word"), "word");
  EXPECT_EQ(trimmed(" \r\n\t"), "");
  EXPECT_EQ(trimmed(""), "");
}
