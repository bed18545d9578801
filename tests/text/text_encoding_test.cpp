#include "text/text_encoding.h"

#include <gtest/gtest.h>

#include "text/byte_order_mark.h"

using namespace tutti;

TEST(TextEncoding, Utf8IsRecognisedByAllOfItsBytes) {
  EXPECT_EQ(encoding_of("plain").encoding, TextEncoding::utf8);
  EXPECT_EQ(encoding_of("caf\xC3\xA9, \xF0\x9F\x8E\xB5").encoding, TextEncoding::utf8);
  EXPECT_EQ(encoding_of("").first, std::string_view::npos);
}

TEST(TextEncoding, WesternTextIsWindows1252) {
  for (const char* text : {"caf\xE9", "na\xEFve and \x93quoted\x94",
                           "stra\xDF"
                           "e \xFC"
                           "ber",
                           "10 \xB0"
                           "C",
                           "it\xB4s"}) {
    const auto facts = encoding_of(text);
    EXPECT_EQ(facts.encoding, TextEncoding::windows_1252) << text;
    EXPECT_LT(facts.first, 8U);
  }
}

TEST(TextEncoding, OtherTextIsNotTakenForWindows1252) {
  EXPECT_EQ(encoding_of("\xCF\xF0\xE8\xE2\xE5\xF2").encoding, TextEncoding::other) << "Windows-1251";
  EXPECT_EQ(encoding_of("\xC4\xE3\xBA\xC3").encoding, TextEncoding::other) << "GBK";
  EXPECT_EQ(encoding_of("cz\xB3owiek").encoding, TextEncoding::other) << "Windows-1250";
  EXPECT_EQ(encoding_of("caf\x81").encoding, TextEncoding::other) << "no character";
  EXPECT_EQ(encoding_of("caf\xE9 caf\xC3\xA9").encoding, TextEncoding::other) << "one line of each";
  EXPECT_EQ(encoding_of("a|caf\x8E\rb|x\r").encoding, TextEncoding::other) << "Mac Roman";
}

TEST(TextEncoding, LinesEndInAnyWay) {
  const std::vector<std::string_view> lines{"a", "b", "", "c"};
  for (const char* text : {"a\nb\n\nc\n", "a\r\nb\r\n\r\nc", "a\rb\r\rc\r"})
    EXPECT_EQ(split_lines(text), lines) << text;
  EXPECT_TRUE(split_lines("").empty());
}

TEST(TextEncoding, Windows1252BecomesUtf8) {
  EXPECT_EQ(utf8_of_windows_1252("caf\xE9 \x80 \x93x\x94"), "café € “x”");
  EXPECT_EQ(utf8_of_windows_1252("\x8D"), std::nullopt);
}

TEST(TextEncoding, Utf16WithoutItsMarkIsRecognisedByZeros) {
  const std::string plain = "id|text caf\xC3\xA9\n";
  std::string little, big;
  for (const char c : std::string("id|text caf")) little += {c, '\0'}, big += {'\0', c};
  little += std::string("\xE9\0\n\0", 4), big += std::string("\0\xE9\0\n", 4);
  EXPECT_EQ(utf8_of_unmarked_utf16(little), plain);
  EXPECT_EQ(utf8_of_unmarked_utf16(big), plain);
  EXPECT_EQ(utf8_of_unmarked_utf16(plain), std::nullopt);
  EXPECT_EQ(utf8_of_unmarked_utf16(std::string("a\0bcd\0ef", 8)), std::nullopt);
}
