#include "diarize/speaker_words.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::HasSubstr;

std::vector<SpeakerText> texts_of(const std::string& json) {
  const auto texts = read_speaker_texts(json, "f.json");
  EXPECT_TRUE(texts) << texts.error().text();
  return texts.value_or(std::vector<SpeakerText>{});
}

TEST(SpeakerTexts, TurnsAreRead) {
  const auto texts = texts_of(R"({"turns":[{"speaker":"1688","start":3.4,"end":7.2,"text":"a shop boy"},
    {"speaker":7,"start":8,"end":9,"text":"so"}]})");
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].speaker, "1688");
  EXPECT_EQ(texts[0].text, "a shop boy");
  EXPECT_DOUBLE_EQ(texts[1].start, 8);
  EXPECT_EQ(texts[1].speaker, "7");
}

TEST(SpeakerTexts, ASegmentIsPartedWhereItsWordsHaveOtherSpeakers) {
  const auto texts = texts_of(R"({"segments":[{"start":0,"end":4,"text":" Yes. No. Well.","speaker":"A","words":[
    {"word":" Yes.","start":0,"end":1,"speaker":"A"},{"word":" No.","start":2,"end":3,"speaker":"B"},
    {"word":" Well.","start":3,"end":4}]},
    {"start":5,"end":6,"text":" So.","speaker":"B"}]})");
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[1].speaker, "B");
  EXPECT_EQ(texts[1].text, " No.");
  EXPECT_EQ(texts[2].speaker, "A");
  EXPECT_EQ(texts[3].text, " So.");
}

TEST(SpeakerTexts, ErrorsNameTheFileAndThePath) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"turns":[{"speaker":"a","start":0,"text":"x"},{"speaker":"a","start":1}]})",
       "f.json, turns[1]: expected \"text\""},
      {R"({"turns":[{"start":0,"text":"x"}]})", "f.json, turns[0]: expected \"speaker\""},
      {R"({"turns":[{"speaker":"a","text":"x"}]})", "f.json, turns[0]: expected \"start\""},
      {R"({"segments":[{"start":0,"end":1,"text":" x"}]})", "f.json, segments[0]: expected \"speaker\""},
      {R"({"text":"x"})", "f.json: transcript JSON, segments: expected an array"},
      {"no JSON", "f.json: transcript JSON"}};
  for (const auto& [json, expected] : wrong) {
    const auto texts = read_speaker_texts(json, "f.json");
    ASSERT_FALSE(texts) << json;
    EXPECT_THAT(texts.error().what, HasSubstr(expected));
  }
}

TEST(SpeakerWords, TheSameUnderOtherNamesHasNoErrors) {
  const std::vector<SpeakerText> reference{{0, "anna", "one two three"}, {3, "bert", "four five"}, {5, "anna", "six"}};
  std::vector<SpeakerText> renamed = reference;
  for (auto& text : renamed) text.speaker = text.speaker == "anna" ? "SPEAKER_01" : "SPEAKER_00";
  const auto errors = speaker_word_errors(reference, renamed);
  EXPECT_EQ(errors.cp_wer(), 0);
  EXPECT_EQ(errors.wder(), 0);
  EXPECT_EQ(errors.words, 6);
  EXPECT_EQ(errors.aligned, 6);
}

TEST(SpeakerWords, OneWordOfAnotherSpeakerCountsInBothRates) {
  const std::vector<SpeakerText> reference{{0, "a", "one two three"}, {3, "b", "four five six"}};
  const std::vector<SpeakerText> hypothesis{{0, "x", "one two"}, {2, "y", "three four five six"}};
  const auto errors = speaker_word_errors(reference, hypothesis);
  EXPECT_EQ(errors.word_errors, 2);  // missing at one, too many at the other
  EXPECT_EQ(errors.aligned, 6);
  EXPECT_EQ(errors.misplaced, 1);
  EXPECT_DOUBLE_EQ(errors.wder(), 1.0 / 6);
}

TEST(SpeakerWords, AWrongWordIsAlignedAndHasASpeaker) {
  const std::vector<SpeakerText> reference{{0, "a", "one two three"}, {3, "b", "four five six"}};
  const std::vector<SpeakerText> hypothesis{{0, "x", "one too three"}, {3, "x", "for"}, {3.5, "y", "five six seven"}};
  const auto errors = speaker_word_errors(reference, hypothesis);
  EXPECT_EQ(errors.aligned, 6);
  EXPECT_EQ(errors.misplaced, 1);
  EXPECT_EQ(errors.word_errors, 4);  // too; for at a; four away at b and seven too many
}

TEST(SpeakerWords, ErrorsAreThoseOfMeeteval) {
  struct Case {
    std::vector<SpeakerText> reference, hypothesis;
    std::int64_t errors, words;  // of cp_word_error_rate of meeteval 0.4.3
    double rate;
  };
  const Case cases[] = {{{{0, "a", "the cat sat on the mat"},
                          {2, "b", "yes it did"},
                          {4, "c", "no it did not"},
                          {6, "a", "and then the dog came"}},
                         {{0, "1", "the cat sat on a mat"},
                          {2.1, "2", "yes it did no it"},
                          {4.5, "3", "did not and then"},
                          {6.5, "1", "the fog came in"}},
                         11,
                         18,
                         0.6111111111111112},
                        {{{0, "a", "one two"}, {1, "b", "three four five"}},
                         {{0, "1", "one"}, {0.5, "2", "two"}, {1, "3", "three four"}, {2, "4", "five"}},
                         4,
                         5,
                         0.8}};
  for (const auto& it : cases) {
    const auto errors = speaker_word_errors(it.reference, it.hypothesis);
    EXPECT_EQ(errors.word_errors, it.errors);
    EXPECT_EQ(errors.words, it.words);
    EXPECT_EQ(errors.cp_wer(), it.rate);
  }
}

TEST(SpeakerWords, TextsCountInTheOrderOfTheirStarts) {
  const std::vector<SpeakerText> reference{{0, "a", "one two"}, {3, "b", "three"}, {5, "a", "four"}};
  const std::vector<SpeakerText> shuffled{{5, "a", "four"}, {3, "b", "three"}, {0, "a", "one two"}};
  EXPECT_EQ(speaker_word_errors(reference, shuffled).word_errors, 0);
}

TEST(SpeakerWords, SpeakersWithoutAPartnerAreErrors) {
  const std::vector<SpeakerText> reference{{0, "a", "one two"}, {3, "b", "three"}};
  const auto missing = speaker_word_errors(reference, {});
  EXPECT_EQ(missing.word_errors, 3);
  EXPECT_EQ(missing.wder(), 0);
  EXPECT_EQ(speaker_word_errors({}, reference).word_errors, 3);
  EXPECT_EQ(speaker_word_errors({}, {}).cp_wer(), 0);
}

}  // namespace
}  // namespace tutti
