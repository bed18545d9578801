#include "diarize/rttm.h"

#include <gmock/gmock.h>

#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Rttm, TurnsAreReadByRecordingFromAnyWhiteSpace) {
  const auto read = parse_rttm(
      ";; comment\n"
      "SPEAKER a 1 3.425 3.816 <NA> <NA> Anna <NA> <NA>\r\n"
      "\n"
      "SPKR-INFO a 1 <NA> <NA> <NA> unknown Anna <NA> <NA>\n"
      "SPEAKER\tb\t1   0  1.5\t<NA> <NA> Bert\n"
      "SPEAKER a 1 8 0.5 <NA> <NA> Bert <NA> <NA>",
      "f");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_THAT(read->at("a"), ElementsAre(SpeakerTurn{3.425, 3.425 + 3.816, "Anna"}, SpeakerTurn{8, 8.5, "Bert"}));
  EXPECT_THAT(read->at("b"), ElementsAre(SpeakerTurn{0, 1.5, "Bert"}));
}

TEST(Rttm, ATurnOfNoLengthLeavesItsRecordingWithoutTurns) {
  const auto read = parse_rttm("SPEAKER a 1 3 0 <NA> <NA> Anna <NA> <NA>\n", "f");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->at("a").empty());
}

TEST(Rttm, ErrorsNameTheFileTheLineAndWhatIsThere) {
  const std::pair<const char*, const char*> wrong[] = {
      {"SPEAKER a 1 x 1 <NA> <NA> Anna", "expected the start in seconds from 0 on, found 'x'"},
      {"SPEAKER a 1 -1 1 <NA> <NA> Anna", "expected the start in seconds from 0 on, found '-1'"},
      {"SPEAKER a 1 1 inf <NA> <NA> Anna", "expected the duration in seconds from 0 on, found 'inf'"},
      {"SPEAKER a 1 1 1", "expected SPEAKER, recording, channel"},
      {"1 00:00:01,000 --> 00:00:02,000", "expected SPEAKER or another type of line that RTTM has, found '1'"},
      {"SPEAKER \xff 1 1 1 <NA> <NA> Anna", "expected UTF-8"}};
  for (const auto& [line, expected] : wrong) {
    const auto read = parse_rttm("SPEAKER a 1 0 1 <NA> <NA> Anna\n" + std::string(line) + "\n", "talk.rttm");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().fault, Fault::corrupt);
    EXPECT_THAT(read.error().what, HasSubstr("talk.rttm, line 2: ")) << line;
    EXPECT_THAT(read.error().what, HasSubstr(expected)) << line;
  }
}

TEST(Rttm, WhatIsWrittenIsReadAgainToTheMillisecond) {
  const std::vector<SpeakerTurn> turns{{0, 1.2344, "SPEAKER_00"}, {1.2344, 7.0006, "Anna Maria"}, {3, 4, ""}};
  const std::string text = rttm_text("my talk", turns);
  EXPECT_EQ(text,
            "SPEAKER my_talk 1 0.000 1.234 <NA> <NA> SPEAKER_00 <NA> <NA>\n"
            "SPEAKER my_talk 1 1.234 5.767 <NA> <NA> Anna_Maria <NA> <NA>\n"
            "SPEAKER my_talk 1 3.000 1.000 <NA> <NA> <NA> <NA> <NA>\n");
  const auto read = parse_rttm(text, "f");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->at("my_talk").size(), 3u);
  EXPECT_NEAR(read->at("my_talk")[1].end, 7.001, 1e-9);
}

TEST(Rttm, AFileThatIsMissingIsNamed) {
  const TempFolder folder;
  const auto read = read_rttm(folder / "none.rttm");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().fault, Fault::missing);
  EXPECT_THAT(read.error().what, HasSubstr("none.rttm"));
}

TEST(SpeakerTurns, SpeakersAreInTheOrderOfTheirFirstTurns) {
  std::vector<SpeakerTurn> turns{{4, 5, "b"}, {1, 2, "c"}, {0, 1, "b"}, {1, 1.5, "a"}};
  sort_by_time(turns);
  EXPECT_THAT(speakers_of(turns), ElementsAre("b", "a", "c"));
}

}  // namespace
}  // namespace tutti
