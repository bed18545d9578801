#include "transcript/reference_text/caption_text.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::ElementsAre;

std::string spoken(const std::string& caption, CaptionRules rules = {}) {
  return spoken_texts(std::vector{caption}, rules).front();
}

TEST(CaptionText, DescriptionsOfNoiseAreNoText) {
  for (const char* caption : {"[APPLAUSE]", "(door slams)", "[dramatic\nmusic playing]", "*sighs*", "- (coughs)",
                              "\u3010\u62CD\u624B\u3011", "\uFF08\u7B11\uFF09", "[music [loud]]", "{laughs}", "..."})
    EXPECT_EQ(spoken(caption), "") << caption;
  EXPECT_EQ(spoken("(sighs) I know."), "I know.");
  EXPECT_EQ(spoken("I know (sighs), you see"), "I know, you see");
  EXPECT_EQ(spoken("Yes. [laughter]\nNo."), "Yes.\nNo.");
  EXPECT_EQ(spoken("2 * 3 * 4"), "2 * 3 * 4");
}

TEST(CaptionText, MusicIsNoText) {
  for (const char* caption :
       {"\u266A music \u266A", "(\u266A MARCHING BAND \u266A)", "\u266A Happy birthday\nto you \u266A",
        "\u266A la la la\n\u266A do do do", "\u266B", "# Happy birthday to you #", "\U0001F3B5 song"})
    EXPECT_EQ(spoken(caption), "") << caption;
  EXPECT_EQ(spoken("\u266A la la \u266A Stop it!"), "Stop it!");
  EXPECT_EQ(spoken("\u266A la la la\nStop it!"), "Stop it!");
  EXPECT_EQ(spoken("You are # 1"), "You are # 1");
}

TEST(CaptionText, SpeakersAreNoText) {
  for (const char* caption :
       {"NARRATOR: Once upon a time", "PRESIDENT KENNEDY:\nOnce upon a time", "Narrator: Once upon a time",
        "[SPEAKER_01]: Once upon a time", "SPEAKER_01: Once upon a time", "Speaker 1: Once upon a time",
        ">> JOHN: Once upon a time", ">> Once upon a time", ">>> Once upon a time", "- John: Once upon a time",
        "- Once upon a time", "\u2013 Once upon a time", "MAN 2: Once upon a time", "JOHN (on phone): Once upon a time",
        "Mary Ann: Once upon a time", "Man #1: Once upon a time", "JOHN:Once upon a time",
        "\u041F\u0423\u0422\u0418\u041D: Once upon a time", "Dr. Smith: Once upon a time"})
    EXPECT_EQ(spoken(caption), "Once upon a time") << caption;
  EXPECT_EQ(spoken("- The point is: go"), "The point is: go");
  EXPECT_EQ(spoken("- Is it?\n- It is."), "Is it?\nIt is.");
  EXPECT_EQ(spoken("Yes. >> No. >> ANN: Maybe."), "Yes.\nNo.\nMaybe.");
}

TEST(CaptionText, SpokenTextBeforeAColonStays) {
  for (const char* caption :
       {"Remember: never do that", "The question is: why", "It is 10:30 now", "NOTE: mind the gap",
        "See http://example.org", "-5 degrees", "a well-known man", "I said: go"})
    EXPECT_EQ(spoken(caption), caption);
}

TEST(CaptionText, ANameThatBeginsSeveralLinesIsASpeaker) {
  EXPECT_THAT(spoken_texts(std::vector<std::string>{"John: Hello", "Ann: Hi", "John: Bye", "Listen: a bird"}),
              ElementsAre("Hello", "Ann: Hi", "Bye", "Listen: a bird"));
  EXPECT_THAT(spoken_texts(std::vector<std::string>{">> JOHN: AND SO", "THE POINT IS: GO ON", ">> ANN: WHY"}),
              ElementsAre("AND SO", "THE POINT IS: GO ON", "WHY"))
      << "where all is in capitals, they make no label";
}

TEST(CaptionText, ADescriptionMayEndInTheNextCaption) {
  EXPECT_THAT(spoken_texts(std::vector<std::string>{"(men shouting", "indistinctly) Stop!", "Why?"}),
              ElementsAre("", "Stop!", "Why?"));
  EXPECT_THAT(spoken_texts(std::vector<std::string>{"[never closed", "Why?"}), ElementsAre("", "Why?"));
}

TEST(CaptionText, TheParenthesesOfProseAreReadAloud) {
  EXPECT_EQ(spoken("In May (the fifth month) [laughter]", {.parentheses_are_sounds = false}),
            "In May (the fifth month)");
}

}  // namespace
}  // namespace tutti
