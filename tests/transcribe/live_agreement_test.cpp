#include <gtest/gtest.h>

#include "base/strings.h"
#include "transcribe/live/captions.h"

using namespace tutti;

namespace {

/// "And so , my" as words; signs are words of their own, and bring no space along.
std::vector<SpelledWord> words(const std::string& text) {
  std::vector<SpelledWord> out;
  for (const auto word : split(text, ' '))
    out.push_back({.text = (is_punctuation(word) && word != "(" ? "" : " ") + std::string(word), .ids = {1}});
  return out;
}

}  // namespace

TEST(Agreement, IsTheCommonBeginningOfTwoReadings) {
  EXPECT_EQ(agreed_words(words("the cat sat on"), words("the cat sat in a")), 3U);
  EXPECT_EQ(agreed_words(words("a cat"), words("the cat")), 0U);
  EXPECT_EQ(agreed_words({}, words("the cat")), 0U);
  EXPECT_EQ(agreed_words(words("the cat"), {}), 0U);
  EXPECT_EQ(agreed_words(words("the cat sat"), words("the cat")), 2U);
}

TEST(Agreement, IgnoresCapitalsAndSigns) {
  EXPECT_EQ(agreed_words(words("The cat , sat"), words("the cat sat down")), 3U);
  EXPECT_EQ(agreed_words(words("the cat sat"), words("the cat , sat . He")), 5U) << "the signs of the later one";
}

TEST(Agreement, LeavesSignsAtTheEndOfAReadingOpen) {
  EXPECT_EQ(agreed_words(words("the cat ."), words("the cat .")), 2U);
  EXPECT_EQ(agreed_words(words("the cat . He"), words("the cat . She")), 3U);
}

TEST(Agreement, LeavesAnOpeningSignToTheWordBehindIt) {
  EXPECT_EQ(agreed_words(words("the ( cat"), words("the ( dog")), 1U);
}
