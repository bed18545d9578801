#include "transcript/tidy.h"

#include <gmock/gmock.h>

#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// As `tutti convert` writes it.
std::string converted(const std::string& json, Format format, const WriterOptions& options = {}) {
  auto transcript = read_transcript_json(json).value();
  (void)tidy_transcript(transcript);
  return format_transcript(transcript, format, options).value();
}

TEST(Tidy, NoEmptyLineAndNoCarriageReturnIsInACue) {
  const std::string json = R"({"segments":[{"start":0,"end":2,"text":"Hello\n\nWorld"},
    {"start":2,"end":4,"text":"line one\r\nline two\rline three\n \n"}]})";
  EXPECT_EQ(converted(json, Format::srt),
            "1\n00:00:00,000 --> 00:00:02,000\nHello\nWorld\n\n"
            "2\n00:00:02,000 --> 00:00:04,000\nline one\nline two\nline three\n\n");
  EXPECT_EQ(converted(json, Format::txt), "Hello\nWorld\nline one\nline two\nline three\n");
}

TEST(Tidy, WordsHoldNoLineBreaks) {
  const std::string json = R"({"segments":[{"start":0,"end":2,"text":" a\n\nb c","words":[
    {"word":" a\n\n","start":0,"end":0.5},{"word":"b","start":0.5,"end":1},{"word":"\r\n","start":1,"end":1},
    {"word":" c","start":1,"end":2}]}]})";
  EXPECT_EQ(converted(json, Format::srt), "1\n00:00:00,000 --> 00:00:02,000\na b c\n\n");
}

TEST(Tidy, AnEndBeforeItsStartIsRepairedAndReported) {
  auto transcript = read_transcript_json(R"({"segments":[{"id":0,"start":99.92,"end":90.72,"text":" One."},
    {"id":1,"start":91.0,"end":93.5,"text":" Two."}]})")
                        .value();
  EXPECT_EQ(tidy_transcript(transcript),
            "times that run backwards are turned round in 1 segment (segment 0, 99.92 s to 90.72 s)");
  EXPECT_DOUBLE_EQ(transcript.segments[0].start, 90.72);
  EXPECT_DOUBLE_EQ(transcript.segments[0].end, 91.0) << "where the next one begins";
  EXPECT_EQ(tidy_transcript(transcript), "");
}

TEST(Tidy, TimesThatAreMissingAreThoseOfTheSegmentsAround) {
  auto transcript = read_untidy_transcript_json(R"({"segments":[{"id":0,"start":-1,"end":2,"text":" One."},
    {"id":1,"start":null,"end":null,"text":" Two."},{"id":2,"start":5,"end":6,"text":" Three."},
    {"id":3,"start":7,"text":" Four."}]})")
                        .value();
  EXPECT_EQ(tidy_transcript(transcript),
            "times that are missing or below zero are those of the segments around in 3 "
            "segments (the first: segment 0)");
  std::vector<std::pair<double, double>> times;
  for (const Segment& segment : transcript.segments) times.emplace_back(segment.start, segment.end);
  EXPECT_THAT(times,
              testing::ElementsAre(std::pair(0.0, 2.0), std::pair(2.0, 5.0), std::pair(5.0, 6.0), std::pair(7.0, 7.0)));
}

TEST(Tidy, ASegmentWithoutWordsKeepsItsTextBesideOthers) {
  const std::string json =
      R"({"segments":[{"start":0,"end":1,"text":" one","words":[{"word":" one","start":0,"end":1}]},
    {"start":1,"end":2,"text":" two"}]})";
  EXPECT_THAT(converted(json, Format::srt), HasSubstr("00:00:01,000 --> 00:00:02,000\ntwo\n"));
}

TEST(Speakers, StandBeforeTheirTextAsWhisperCtranslate2WritesThem) {
  const std::string json = R"({"segments":[{"start":0,"end":1,"text":" one","speaker":"SPEAKER_01"},
    {"start":1,"end":2,"text":" two"}],"language":"en"})";
  EXPECT_EQ(converted(json, Format::srt),
            "1\n00:00:00,000 --> 00:00:01,000\n[SPEAKER_01]: one\n\n2\n00:00:01,000 --> 00:00:02,000\ntwo\n\n");
  EXPECT_THAT(converted(json, Format::vtt), HasSubstr("00:00.000 --> 00:01.000\n[SPEAKER_01]: one\n"));
  EXPECT_EQ(converted(json, Format::txt), "[SPEAKER_01]: one\ntwo\n");
  EXPECT_EQ(converted(json, Format::tsv), "start\tend\ttext\n0\t1000\tone\n1000\t2000\ttwo\n");
  EXPECT_THAT(converted(json, Format::json), HasSubstr(R"("speaker": "SPEAKER_01")"));
}

TEST(Speakers, StandBeforeEverySubtitleOfWordsAndBeginANewOne) {
  const std::string json = R"({"segments":[{"start":0,"end":1,"text":" a b","speaker":"A","words":[
    {"word":" a","start":0,"end":0.5},{"word":" b","start":0.5,"end":1}]},
    {"start":1,"end":2,"text":" c","speaker":"B","words":[{"word":" c","start":1,"end":2}]}]})";
  EXPECT_THAT(converted(json, Format::vtt, {.max_words_per_line = 1}), HasSubstr("\n[A]: a\n"));
  EXPECT_THAT(converted(json, Format::vtt, {.max_words_per_line = 1}), HasSubstr("\n[A]: b\n"));
  const std::string crossing = converted(json, Format::vtt, {.max_line_width = 40, .max_line_count = 2});
  EXPECT_THAT(crossing, HasSubstr("\n[A]: a b\n"));
  EXPECT_THAT(crossing, HasSubstr("\n[B]: c\n"));
  EXPECT_THAT(converted(json, Format::vtt, {.highlight_words = true}), HasSubstr("\n[A]: <u>a</u> b\n"));
}

}  // namespace
}  // namespace tutti
