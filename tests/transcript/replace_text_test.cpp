#include "transcript/replace_text.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files.h"
#include "support/temp_folder.h"
#include "transcript/writers.h"

namespace tutti {
namespace {

ReplacementList list_of(const std::string& content) {
  const TempFolder folder;
  EXPECT_TRUE(write_file_atomically(folder / "list", content));
  return ReplacementList::read(folder / "list").value();
}

/// Words of a second each, from 0 s on.
Segment segment_of(const std::vector<std::string>& words) {
  Segment segment;
  for (const auto& word : words) {
    const double start = segment.end;
    segment.words.push_back({word, start, segment.end += 1, 0.5});
    segment.text += word;
  }
  return segment;
}

/// "0-1: a|1-3: b"
std::string shown(const Segment& segment) {
  std::string out;
  for (const auto& word : segment.words)
    out += (out.empty() ? "" : "|") + std::to_string(std::lround(word.start)) + "-" +
           std::to_string(std::lround(word.end)) + ":" + word.word;
  return out;
}

TEST(ReplaceText, WordsOfAsManyKeepTheirTimes) {
  auto segment = segment_of({" So", " jon", " smyth,", " yes."});
  EXPECT_EQ(replace_text(segment, list_of("jon smyth\tJohn Smith\n")), 1u);
  EXPECT_EQ(segment.text, " So John Smith, yes.");
  EXPECT_EQ(shown(segment), "0-1: So|1-2: John|2-3: Smith,|3-4: yes.");
}

TEST(ReplaceText, TheLastOfFewerWordsHasTheTimeOfTheRest) {
  auto segment = segment_of({" the", " chat", " g", " p", " t,", " well"});
  EXPECT_EQ(replace_text(segment, list_of("chat g p t\tChatGPT\n")), 1u);
  EXPECT_EQ(segment.text, " the ChatGPT, well");
  EXPECT_EQ(shown(segment), "0-1: the|1-5: ChatGPT,|5-6: well");
}

TEST(ReplaceText, TheLastOldWordHoldsTheRestOfMore) {
  auto segment = segment_of({" in", " newyork", " now"});
  EXPECT_EQ(replace_text(segment, list_of("newyork\tNew York City\n")), 1u);
  EXPECT_EQ(shown(segment), "0-1: in|1-2: New York City|2-3: now");
}

TEST(ReplaceText, TextsThatMeetInAWordAreReplacedApart) {
  auto segment = segment_of({" a", " b-c", " d"});
  EXPECT_EQ(replace_text(segment, list_of("a b\tX\nc d\tY Z\n")), 2u);
  EXPECT_EQ(segment.text, " X-Y Z");
  EXPECT_EQ(shown(segment), "0-2: X-Y|2-3: Z");
}

TEST(ReplaceText, EveryFormatHasTheNewText) {
  Transcript transcript;
  transcript.segments = {segment_of({" jon", " here."}), segment_of({" Jon", " again."})};
  transcript.text = " jon here. Jon again.";
  EXPECT_EQ(replace_text(transcript, list_of("jon\tJohn\n")), 2u);
  EXPECT_EQ(transcript.text, " John here. John again.");
  const auto formats = parse_formats("all").value();
  for (const Format format : formats) {
    const std::string content = format_transcript(transcript, format).value();
    EXPECT_THAT(content, testing::HasSubstr("John again")) << extension(format);
    EXPECT_THAT(content, testing::Not(testing::HasSubstr("jon"))) << extension(format);
  }
}

TEST(ReplaceText, SegmentsOfARunAreReplacedOnTheWay) {
  const auto list = list_of("jon\tJohn\n");
  EXPECT_EQ(with_replacements({segment_of({" jon"})}, &list).front().text, " John");
  EXPECT_EQ(with_replacements({segment_of({" jon"})}, nullptr).front().text, " jon");
}

TEST(Paragraphs, EndAtAPauseAndWhereTheSpeakerChanges) {
  Transcript transcript{.text = "", .segments = {}, .language = "en"};
  const auto add = [&](double start, double end, const char* text, const char* speaker = "") {
    Segment segment;
    segment.start = start;
    segment.end = end;
    segment.text = text;
    segment.speaker = speaker;
    transcript.segments.push_back(segment);
  };
  add(0, 2, " One.");
  add(2.5, 3, " Two.");
  add(5, 6, " Three.");
  add(6, 6, "");
  add(6, 7, " Four.", "A");
  add(7, 8, "Five.", "A");
  const WriterOptions options{.paragraphs = 2};
  EXPECT_EQ(format_transcript(transcript, Format::txt, options).value(), "One. Two.\n\nThree.\n\n[A]: Four. Five.\n");
  EXPECT_EQ(format_transcript(transcript, Format::txt).value(), "One.\nTwo.\nThree.\n\n[A]: Four.\n[A]: Five.\n");
  EXPECT_EQ(format_transcript(transcript, Format::srt, options).value(),
            format_transcript(transcript, Format::srt).value());
}

TEST(Paragraphs, NoSpaceIsPutBetweenSentencesOfChinese) {
  Transcript transcript{.text = "", .segments = {}, .language = "zh"};
  for (const char* text : {"我在。", "你呢?"}) {
    transcript.segments.emplace_back();
    transcript.segments.back().text = text;
  }
  EXPECT_EQ(format_transcript(transcript, Format::txt, {.paragraphs = 2}).value(), "我在。你呢?\n");
}

}  // namespace
}  // namespace tutti
