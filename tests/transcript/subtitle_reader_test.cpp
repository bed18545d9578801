#include "transcript/reference_text/subtitle_reader.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::HasSubstr;

TEST(SubtitleReader, SubRipWithMarkupAndSeveralLines) {
  const auto read = read_subtitles(
      "\xEF\xBB\xBF"
      "1\r\n00:00:01,500 --> 00:00:02,750\r\n<i>Good</i> morning,\r\n{\\an8}all &amp; sundry\r\n\r\n"
      "2\r\n01:00:00,000 --> 01:00:01,000\r\n<b></b>\r\n\r\n3\r\n01:00:02,000 --> 01:00:03,000\r\na < b");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->texts.size(), 2U);
  EXPECT_EQ(read->texts.at(0).text, "Good morning,\nall & sundry");
  EXPECT_DOUBLE_EQ(read->texts.at(0).start, 1.5);
  EXPECT_DOUBLE_EQ(read->texts.at(0).end, 2.75);
  EXPECT_DOUBLE_EQ(read->texts.at(1).start, 3602);
  EXPECT_EQ(read->texts.at(1).text, "a < b");
}

TEST(SubtitleReader, WebVttWithNotesNamesAndSettings) {
  const auto read = read_subtitles(
      "WEBVTT\n\nNOTE made by hand\n\nSTYLE\n::cue { color: red }\n\nintro\n00:03.000 --> 00:05.250 align:start "
      "position:0%\n<v Ann>Hello\n");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->texts.size(), 1U);
  EXPECT_EQ(read->texts.at(0).text, "Hello");
  EXPECT_DOUBLE_EQ(read->texts.at(0).start, 3);
  EXPECT_DOUBLE_EQ(read->texts.at(0).end, 5.25);
}

TEST(SubtitleReader, RollingCaptionsGiveEveryLineOnce) {
  const auto read = read_subtitles(
      "WEBVTT\nKind: captions\n\n00:00:00.000 --> 00:00:01.300 align:start position:0%\n \n"
      "good<00:00:00.500><c> morning</c>\n\n00:00:01.300 --> 00:00:01.310\ngood morning\n \n\n"
      "00:00:01.310 --> 00:00:03.200\ngood morning\nto<c> all</c>\n\n00:00:03.200 --> 00:00:03.210\nto all\n \n\n"
      "00:00:03.210 --> 00:00:05.000\nto all\nto all\n");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->texts.size(), 3U);
  EXPECT_EQ(read->texts.at(0).text, "good morning");
  EXPECT_DOUBLE_EQ(read->texts.at(0).end, 1.3);
  EXPECT_EQ(read->texts.at(1).text, "to all");
  EXPECT_DOUBLE_EQ(read->texts.at(1).start, 1.31);
  EXPECT_EQ(read->texts.at(2).text, "to all") << "spoken again: it is in the file twice";
}

TEST(SubtitleReader, RepeatedSpeechIsKeptTwice) {
  const auto read =
      read_subtitles("1\n00:00:01,000 --> 00:00:02,000\nNo!\n\n2\n00:00:02,000 --> 00:00:03,000\nNo!\nWhy?\n");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->texts.size(), 2U);
  EXPECT_EQ(read->texts.at(1).text, "No!\nWhy?");
}

TEST(SubtitleReader, WhereEmptyLinesWereLeftOutTimesBeginTheNext) {
  const auto read = read_subtitles(
      "1\n00:00:01,000 --> 00:00:02,000\nroom\n101\n2\n00:00:03,000 --> 00:00:04,000\na --> b\n"
      "3\n00:00:05,000 --> 00:00:06,000\n42\n");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->texts.size(), 3U);
  EXPECT_EQ(read->texts.at(0).text, "room\n101");
  EXPECT_EQ(read->texts.at(1).text, "a --> b");
  EXPECT_DOUBLE_EQ(read->texts.at(1).start, 3);
  EXPECT_EQ(read->texts.at(2).text, "42");
}

TEST(SubtitleReader, OneBadCueCostsItselfAlone) {
  const auto read = read_subtitles(
      "1\n00:00:01,000 --> 00:00:02,000\none\n\n2\n00:00:03,000 --> later\ntwo\n\n"
      "3\n00:00:05,000 --> 00:00:06,000\nthree\n\n4\n00:00:09,000 --> 00:00:08,000\nfour\nfive\n");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->texts.size(), 2U);
  EXPECT_EQ(read->texts.at(1).text, "three");
  ASSERT_EQ(read->unusable.size(), 2U);
  EXPECT_EQ(read->unusable.at(0).segment.text, "two");
  EXPECT_DOUBLE_EQ(read->unusable.at(0).segment.start, 2) << "between its neighbours";
  EXPECT_DOUBLE_EQ(read->unusable.at(0).segment.end, 5);
  EXPECT_THAT(read->unusable.at(0).reason, HasSubstr("line 6: expected two times"));
  EXPECT_DOUBLE_EQ(read->unusable.at(1).segment.start, 8);
  EXPECT_DOUBLE_EQ(read->unusable.at(1).segment.end, 9);
  EXPECT_THAT(read->unusable.at(1).reason, HasSubstr("its end, 8.000 s, is before its start, 9.000 s"));
}

TEST(SubtitleReader, NamesTheLineWhoseTimesAreNone) {
  EXPECT_THAT(read_subtitles("1\n00:00:05 --> later\nx\n").error().what, HasSubstr("line 2"));
  EXPECT_THAT(read_subtitles("1\n00:00:05,0 --> 00:00:04,0\nx\n").error().what, HasSubstr("line 2"));
  EXPECT_THAT(read_subtitles("just words").error().what, HasSubstr("found none"));
}

}  // namespace
}  // namespace tutti
