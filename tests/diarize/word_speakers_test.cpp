#include "diarize/word_speakers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::ElementsAre;

const std::vector<SpeakerTurn> kTurns{{0, 2, "SPEAKER_00"}, {2, 4, "SPEAKER_01"}, {9, 10, "SPEAKER_00"}};

TEST(WordSpeakers, LargestOverlapWinsElseTheNearest) {
  EXPECT_EQ(speaker_at(kTurns, 1.5, 2.2), "SPEAKER_00");
  EXPECT_EQ(speaker_at(kTurns, 1.9, 2.6), "SPEAKER_01");
  EXPECT_EQ(speaker_at(kTurns, 5, 5.5), "SPEAKER_01");
  EXPECT_EQ(speaker_at(kTurns, 8, 8.5), "SPEAKER_00");
  EXPECT_EQ(speaker_at(kTurns, 3, 3), "SPEAKER_01") << "a word of no length";
  EXPECT_EQ(speaker_at({}, 1, 2), "SPEAKER_00") << "every word has a speaker";
}

TEST(WordSpeakers, SegmentIsSplitWhereTheSpeakerChangesWithItsTokens) {
  Transcript transcript;
  transcript.segments.push_back({.id = 7,
                                 .start = 0,
                                 .end = 4,
                                 .text = " One two three",
                                 .tokens = {100, 1, 2, 3, 101},
                                 .words = {{" One", 0, 0.9, 1}, {" two", 1, 1.8, 1}, {" three", 2.2, 3.9, 1}}});
  transcript.segments.push_back({.id = 8, .start = 9, .end = 10, .text = " Four"});
  const auto bytes = [](std::int32_t token) -> std::string_view {
    if (token == 1) return " One";
    if (token == 2) return " two";
    return token == 3 ? " three" : "";
  };
  assign_speakers(transcript, kTurns, bytes);
  ASSERT_EQ(transcript.segments.size(), 3U);
  const auto &a = transcript.segments[0], &b = transcript.segments[1], &c = transcript.segments[2];
  EXPECT_EQ(a.text, " One two");
  EXPECT_EQ(a.speaker, "SPEAKER_00");
  EXPECT_EQ(a.end, 1.8);
  EXPECT_THAT(a.tokens, ElementsAre(100, 1, 2));
  EXPECT_EQ(b.text, " three");
  EXPECT_EQ(b.speaker, "SPEAKER_01");
  EXPECT_EQ(b.start, 2.2);
  EXPECT_EQ(b.end, 4);
  EXPECT_THAT(b.tokens, ElementsAre(3, 101));
  EXPECT_EQ(c.speaker, "SPEAKER_00");
  EXPECT_EQ(c.id, 2);
}

TEST(WordSpeakers, EndOfACompoundHasTheSpeakerOfItsBeginning) {
  Transcript transcript;
  transcript.segments.push_back(
      {.end = 4,
       .text = " a mid-term it",
       .words = {{" a", 0, 1, 1}, {" mid", 1, 1.9, 1}, {"-term", 2, 2.5, 1}, {" it", 3, 4, 1}}});
  assign_speakers(transcript, kTurns, [](std::int32_t) -> std::string_view { return ""; });
  ASSERT_EQ(transcript.segments.size(), 2U);
  EXPECT_EQ(transcript.segments[0].text, " a mid-term");
}

TEST(WordSpeakers, JsonNamesTheSpeakerOfEveryWord) {
  Transcript transcript;
  transcript.text = " One";
  transcript.segments.push_back({.end = 1, .text = " One", .words = {{" One", 0, 1, 1}}, .speaker = "SPEAKER_00"});
  const std::string json = transcript_json(transcript);
  EXPECT_NE(json.find("\"probability\": 1.0, \"speaker\": \"SPEAKER_00\"}"), std::string::npos) << json;
}

TEST(WordSpeakers, SegmentsOfOneSpeakerInARowAreOneTurn) {
  Transcript transcript;
  for (const auto& [start, end, speaker] :
       {std::tuple(0.0, 1.0, "A"), {1.0, 2.0, "A"}, {3.0, 4.0, "A"}, {4.0, 5.0, "B"}})
    transcript.segments.push_back({.start = start, .end = end, .text = " x", .speaker = speaker});
  EXPECT_THAT(turns_of(transcript),
              ElementsAre(SpeakerTurn{0, 2, "A"}, SpeakerTurn{3, 4, "A"}, SpeakerTurn{4, 5, "B"}));
}

}  // namespace
}  // namespace tutti
