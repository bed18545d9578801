#include "text/utf8.h"

#include <gtest/gtest.h>

using namespace tutti;

TEST(Utf8, BrokenBytesAreReplacedAsPythonDoes) {
  const std::string bad = "\uFFFD";
  EXPECT_EQ(replace_invalid_utf8("plain é 日 😀"), "plain é 日 😀");
  EXPECT_EQ(replace_invalid_utf8("\x80"
                                 "a"),
            bad + "a");
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(replace_invalid_utf8("\xE0\x80\xAF"), bad + bad + bad);            // overlong
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(replace_invalid_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"), bad);                        // three good bytes of four: one sign
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"
                                 "a"),
            bad + "a");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82\xE2\x82\xAC"), bad + "€");
}

TEST(Utf8, CodePointsComeBackAsTheSameBytes) {
  std::u32string all;
  for (char32_t value = 0; value <= 0x10FFFF; value += value < 0x1000 ? 1 : 0x101)
    if (value < 0xD800 || value > 0xDFFF) all.push_back(value);
  EXPECT_EQ(to_code_points(to_utf8(all)), all);
}
