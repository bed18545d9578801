#include "transcript/known/spread_text.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::ElementsAre;

/// Words a second apart, each half a second long.
std::vector<Word> heard(std::initializer_list<const char*> words, double start = 0) {
  std::vector<Word> all;
  for (const char* word : words) {
    all.push_back({std::string(" ") + word, start, start + 0.5, 1});
    start += 1;
  }
  return all;
}

std::vector<std::string> texts(const std::vector<Segment>& segments) {
  std::vector<std::string> all;
  for (const auto& segment : segments) all.push_back(segment.text);
  return all;
}

TEST(SpreadText, SentencesHaveTheTimesOfTheirWords) {
  const auto spread =
      spread_text("Good morning. How are you?\nFine", heard({"good", "morning", "how", "are", "you,", "fine"}));
  EXPECT_THAT(texts(spread.segments), ElementsAre("Good morning.", "How are you?", "Fine"));
  EXPECT_DOUBLE_EQ(spread.segments[1].start, 2);
  EXPECT_DOUBLE_EQ(spread.segments[1].end, 4.5);
  EXPECT_TRUE(spread.unheard.empty());
}

TEST(SpreadText, WordsHeardWronglyLieBetweenTheirNeighbours) {
  const auto spread = spread_text("one two three\nfour", heard({"one", "too", "tree", "four"}));
  ASSERT_EQ(spread.segments.size(), 2U);
  EXPECT_DOUBLE_EQ(spread.segments[0].start, 0);
  EXPECT_DOUBLE_EQ(spread.segments[0].end, 3);
  EXPECT_DOUBLE_EQ(spread.segments[1].start, 3);
}

TEST(SpreadText, SentencesNobodyHeardAreToldApart) {
  const auto spread = spread_text("an introduction\none two\na farewell", heard({"one", "two"}, 10));
  EXPECT_THAT(texts(spread.segments), ElementsAre("one two"));
  EXPECT_THAT(texts(spread.unheard), ElementsAre("an introduction", "a farewell"));
  EXPECT_LE(spread.unheard[0].end, 10);
  EXPECT_GE(spread.unheard[1].start, 11.5);
}

TEST(SpreadText, LongSentencesArePartedWhereTheLongestPauseIs) {
  std::string text;
  std::vector<Word> words;
  for (int i = 0; i < 30; ++i) {
    const std::string word = "w" + std::to_string(i);
    text += word + " ";
    const double start = i * 0.5 + (i >= 18 ? 2 : 0);
    words.push_back({" " + word, start, start + 0.4, 1});
  }
  const auto spread = spread_text(text, words);
  ASSERT_EQ(spread.segments.size(), 2U);
  EXPECT_TRUE(spread.segments[0].text.ends_with("w17"));
  EXPECT_TRUE(spread.segments[1].text.starts_with("w18"));
}

}  // namespace
}  // namespace tutti
