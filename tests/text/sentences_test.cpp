#include "text/speech/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Sentences, EndBehindTheirStops) {
  EXPECT_THAT(split_sentences("One. Two! Is it three?  It is:\nfour", 100).pieces,
              ElementsAre("One.", "Two!", "Is it three?", "It is:", "four"));
}

TEST(Sentences, AbbreviationsInitialsAndNumbersEndNone) {
  EXPECT_THAT(split_sentences("Dr. J. Smith paid 3.50 at 10:30. He left.", 100).pieces,
              ElementsAre("Dr. J. Smith paid 3.50 at 10:30.", "He left."));
}

TEST(Sentences, ShortFormsEndNoneBeforeLowerCaseAndDigits) {
  EXPECT_THAT(split_sentences("On Dec. 31, vol. 3, at 7 a.m. he left. Well, etc. The end.", 100).pieces,
              ElementsAre("On Dec. 31, vol. 3, at 7 a.m. he left.", "Well, etc.", "The end."));
  EXPECT_THAT(split_sentences("The cat sat. it ran on Sat. May 5 to Ft. Worth. It is 6 ft. He sat.", 100).pieces,
              ElementsAre("The cat sat.", "it ran on Sat. May 5 to Ft. Worth.", "It is 6 ft.", "He sat."));
  EXPECT_THAT(split_sentences("it ends. and goes on.", 100).pieces, ElementsAre("it ends.", "and goes on."));
}

TEST(Sentences, QuotesBehindAStopBelongToIt) {
  EXPECT_THAT(split_sentences("\"Go.\" He went (fast!) away.", 100).pieces,
              ElementsAre("\"Go.\"", "He went (fast!)", "away."));
}

TEST(Sentences, SoundsInBracketsAreNotCut) {
  EXPECT_THAT(split_sentences("Say [[a. b]] now.", 100).pieces, ElementsAre("Say [[a. b]] now."));
  EXPECT_THAT(split_sentences("Say it [[a, b c d]]", 14).pieces, ElementsAre("Say it", "[[a, b c d]]"));
  EXPECT_THAT(split_sentences("[[a, b c d e f g]] on", 8).pieces, ElementsAre("[[a, b c d e f g]]", "on"));
}

TEST(Sentences, MarkupAndEquationsAreNotCut) {
  EXPECT_THAT(split_sentences("Tom &amp; Jerry. <a title=\"x. y\">One. Two</a>", 100).pieces,
              ElementsAre("Tom &amp; Jerry.", "<a title=\"x. y\">One.", "Two</a>"));
  EXPECT_THAT(split_sentences("So 5! = 120. Stop! Go.", 100).pieces, ElementsAre("So 5! = 120.", "Stop!", "Go."));
}

TEST(Sentences, PiecesWithoutAWordOrASignAreLeftOut) {
  EXPECT_THAT(split_sentences(" ... \n -- ! \n", 100).pieces, IsEmpty());
  EXPECT_THAT(split_sentences("\u2014\n&nbsp;\n<br>\n=====\n***\n", 100).pieces, IsEmpty());
  EXPECT_THAT(split_sentences("a\n\u2192\nb", 100).pieces, ElementsAre("a", "\u2192", "b"));
  EXPECT_THAT(split_sentences("", 100).pieces, IsEmpty());
}

TEST(Sentences, LongOneIsCutAtCommasAndCounted) {
  std::string text;
  while (text.size() < 10'000) text += "some words, ";
  const auto cut = split_sentences(text, 240);
  EXPECT_EQ(cut.cut + 1, cut.pieces.size());
  std::size_t length = 0;
  for (const auto& piece : cut.pieces) {
    EXPECT_LE(piece.size(), 240U);
    EXPECT_TRUE(piece.ends_with(",")) << piece;
    length += piece.size() + 1;
  }
  EXPECT_EQ(length, text.size()) << "nothing but the white space at a cut is lost";
}

TEST(Sentences, WithoutACommaIsCutBetweenWordsOrCharacters) {
  EXPECT_THAT(split_sentences("aaaa bbbb cccc", 10).pieces, ElementsAre("aaaa bbbb", "cccc"));
  EXPECT_THAT(split_sentences("ääääää", 5).pieces, ElementsAre("ää", "ää", "ää"));
}

TEST(Sentences, QuestionsForYesOrNoDifferFromOthers) {
  for (const char* text :
       {"Is it five?", "\"Did he come?\"", "You did? ", "And you?", "Can you say what it is?",
        "\u201cIs it raining?\u201d", "Did he, who was late, say where it is?", "Won't it, when wet?"})
    EXPECT_TRUE(is_yes_or_no_question(text)) << text;
  for (const char* text : {"What is it?", "In which year?", "Who's there?", "\"How?\"", "Is it five.", "", "why?",
                           "What\u2019s your name?", "What're you doing?", "Excuse me, where is the station?"})
    EXPECT_FALSE(is_yes_or_no_question(text)) << text;
}

TEST(Sentences, KindOfAQuestionFollowsFromAllOfIt) {
  const auto rises = [](std::string_view text, std::size_t most) { return split_sentences(text, most).rises; };
  EXPECT_THAT(rises("Did she see the old house, the long garden, the gate?", 30), ElementsAre(false, true));
  EXPECT_THAT(rises("Where did she see the house, the long garden, the gate?", 30), ElementsAre(false, false));
  EXPECT_THAT(rises("Is it this: the red one? What is it: red or blue?", 99), ElementsAre(false, true, false, false));
  EXPECT_THAT(rises("She asked: where is it? She asked: is it here?", 99), ElementsAre(false, false, false, true));
  EXPECT_THAT(rises("Did the man\nsee it? Which man\nsaw it? What is new\nIs it?", 99),
              ElementsAre(false, true, false, false, false, true));
}
