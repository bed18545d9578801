#include "base/bytes.h"

#include <gtest/gtest.h>

using namespace tutti;

TEST(Bytes, WrittenValuesAreReadBack) {
  ByteWriter out;
  out.put(std::uint32_t{7});
  out.put(std::string_view("mel"));
  out.put(std::vector<float>{1.5F, -2.0F});
  out.put(true);
  const std::string bytes = out.take();

  ByteReader in(bytes);
  std::uint32_t number = 0;
  std::string text;
  std::vector<float> values;
  bool flag = false;
  in.get(number);
  in.get(text);
  in.get(values);
  in.get(flag);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(number, 7U);
  EXPECT_EQ(text, "mel");
  EXPECT_EQ(values, (std::vector<float>{1.5F, -2.0F}));
  EXPECT_TRUE(flag);
}

TEST(Bytes, ACountThatPromisesMoreThanIsThereFailsWithoutAllocating) {
  ByteWriter out;
  out.put(std::uint32_t{0xffffffff});
  const std::string bytes = out.take();
  ByteReader in(bytes);
  std::vector<double> values;
  in.get(values);
  EXPECT_TRUE(in.failed());
  EXPECT_TRUE(values.empty());
}

TEST(Bytes, AfterAFailureEverythingReadsAsZero) {
  ByteReader in("ab");
  std::uint64_t wide = 1;
  std::uint8_t narrow = 1;
  in.get(wide);
  in.get(narrow);
  EXPECT_EQ(wide, 0U);
  EXPECT_EQ(narrow, 0U);
  EXPECT_FALSE(in.finished());
}

TEST(Bytes, LeftOverBytesAreNotAFinishedMessage) {
  ByteReader in("abcd");
  std::uint16_t half = 0;
  in.get(half);
  EXPECT_FALSE(in.failed());
  EXPECT_FALSE(in.finished());
}

TEST(Bytes, AnotherProgramsFileIsReadByNumbersAndStretches) {
  const std::string file("\x03\x00melrest", 9);
  ByteReader in(std::as_bytes(std::span(file)));
  const auto size = in.number<std::uint16_t>();
  EXPECT_EQ(in.bytes(size), "mel");
  EXPECT_EQ(in.left(), 4U);
  EXPECT_EQ(in.bytes(5), "") << "fewer are left";
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.bytes(1), "") << "it sticks";
}
