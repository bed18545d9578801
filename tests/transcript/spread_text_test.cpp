#include "transcript/reference_text/spread_text.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::ElementsAre;

/// Words a second apart, each half a second long.
std::vector<Word> found(std::initializer_list<const char*> words, double start = 0) {
  std::vector<Word> all;
  for (const char* word : words) {
    all.push_back({std::string(" ") + word, start, start + 0.5, 1});
    start += 1;
  }
  return all;
}

std::vector<std::string> texts(const std::vector<SpreadSentence>& sentences) {
  std::vector<std::string> all;
  for (const auto& sentence : sentences) all.push_back(sentence.segment.text);
  return all;
}

TEST(SpreadText, SentencesHaveTheTimesOfTheirWords) {
  const auto spread =
      spread_text("Good morning. How are you?\nFine", found({"good", "morning", "how", "are", "you,", "fine"}), 9);
  EXPECT_THAT(texts(spread), ElementsAre("Good morning.", "How are you?", "Fine"));
  EXPECT_DOUBLE_EQ(spread[1].segment.start, 2);
  EXPECT_DOUBLE_EQ(spread[1].segment.end, 4.5);
  for (const auto& sentence : spread) EXPECT_TRUE(sentence.is_sure);
}

TEST(SpreadText, MisrecognisedWordsExtendToTheEdges) {
  const auto spread = spread_text("one two three four\nfive", found({"won", "two", "three", "for", "five"}), 9);
  ASSERT_EQ(spread.size(), 2U);
  EXPECT_TRUE(spread[0].is_sure);
  EXPECT_DOUBLE_EQ(spread[0].segment.start, 0.5);
  EXPECT_DOUBLE_EQ(spread[0].segment.end, 3);
}

TEST(SpreadText, UnrecognisedSentencesShareTheTimeBetweenOthers) {
  const auto spread = spread_text(
      "aaaa\none two\nbb\ncccc\nthree\ndd",
      [] {
        auto words = found({"one", "two"}, 10);
        words.push_back({" three", 21, 21.5, 1});
        return words;
      }(),
      30);
  const auto expect = [&](std::size_t i, bool sure, double start, double end) {
    EXPECT_EQ(spread[i].is_sure, sure) << i;
    EXPECT_NEAR(spread[i].segment.start, start, 1e-9) << i;
    EXPECT_NEAR(spread[i].segment.end, end, 1e-9) << i;
  };
  expect(0, false, 0, 10);
  expect(1, true, 10, 11.5);
  expect(2, false, 11.5, 11.5 + 9.5 / 3);
  expect(3, false, 11.5 + 9.5 / 3, 21);
  expect(4, true, 21, 21.5);
  expect(5, false, 21.5, 30);
}

TEST(SpreadText, AWordThatLastsTooLongIsNoAnchor) {
  const auto spread = spread_text(
      "one two\nthree", std::vector<Word>{{" one", 0, 0.5, 1}, {" two", 0.5, 25, 1}, {" three", 25, 25.4, 1}}, 30);
  EXPECT_DOUBLE_EQ(spread[0].segment.end, 1);
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
  const auto spread = spread_text(text, words, 20);
  ASSERT_EQ(spread.size(), 2U);
  EXPECT_TRUE(spread[0].segment.text.ends_with("w17"));
  EXPECT_TRUE(spread[1].segment.text.starts_with("w18"));
}

}  // namespace
}  // namespace tutti
