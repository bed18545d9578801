#include "prepare/known_text.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(KnownText, NonUtf8TextIsRefusedWithItsLine) {
  const TempFolder folder;
  for (const char* ending : {".srt", ".txt"}) {
    const auto file = folder / (std::string("talk") + ending);
    ASSERT_TRUE(write_file_atomically(file, "1\n00:00:00,000 --> 00:00:01,000\ncaf\xE9 au lait\n"));
    const auto text = known_text(folder / "talk.wav", {});
    ASSERT_FALSE(text) << ending;
    EXPECT_THAT(text.error().text(), AllOf(HasSubstr(file.string()), HasSubstr("UTF-8"), HasSubstr("line 3")));
    std::filesystem::remove(file);
  }
}

TEST(KnownText, AByteOrderMarkIsNoPartOfAWord) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt",
                                    "\xEF\xBB\xBF"
                                    "caf\xC3\xA9 au lait"));
  const auto text = known_text(folder / "talk.wav", {});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(text->plain, "caf\xC3\xA9 au lait");
}

TEST(KnownText, CaptionsKeepOnlySpokenText) {
  const TempFolder folder;
  ASSERT_TRUE(
      write_file_atomically(folder / "talk.srt",
                            "1\n00:00:00,000 --> 00:00:00,400\n[APPLAUSE]\n\n"
                            "2\n00:00:00,400 --> 00:00:05,000\nPRESIDENT KENNEDY:\nAnd so my fellow\nAmericans\n\n"
                            "3\n00:00:09,000 --> 00:00:08,000\nnever\n"));
  const auto text = known_text(folder / "talk.wav", {});
  ASSERT_TRUE(text) << text.error().text();
  ASSERT_EQ(text->timed.size(), 1U);
  EXPECT_EQ(text->timed[0].text, "And so my fellow Americans");
  ASSERT_EQ(text->unusable.size(), 2U);
  EXPECT_THAT(text->unusable[0].reason, HasSubstr("before its start"));
  EXPECT_EQ(text->unusable[1].segment.text, "[APPLAUSE]");
  EXPECT_THAT(text->unusable[1].reason, HasSubstr("nothing in it is spoken"));
}

TEST(KnownText, ASegmentWithoutTimesDoesNotCostTheOthers) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.json", R"({"segments":[{"start":null,"end":2,"text":" One."},
    {"start":2,"end":4,"text":" Two."}]})"));
  const auto text = known_text(folder / "talk.wav", {});
  ASSERT_TRUE(text) << text.error().text();
  ASSERT_EQ(text->timed.size(), 1U);
  EXPECT_EQ(text->timed[0].text, "Two.");
  ASSERT_EQ(text->unusable.size(), 1U);
  EXPECT_THAT(text->unusable[0].reason, HasSubstr("is missing"));
}

TEST(KnownText, PlainTextDropsSpeakersAndDescriptions) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt", "NARRATOR: Once (in May).\r\n\r\n[music]\r\nTwice.\r\n"));
  EXPECT_EQ(known_text(folder / "talk.wav", {})->plain, "Once (in May).\n\n\nTwice.");
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt", "[music]\n"));
  EXPECT_THAT(known_text(folder / "talk.wav", {}).error().text(), HasSubstr("holds nothing that is spoken"));
}

TEST(KnownText, Utf16IsRead) {
  const TempFolder folder;
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("One.\r\nTwo.")) wide += std::string{c, '\0'};
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt", wide));
  EXPECT_EQ(known_text(folder / "talk.wav", {})->plain, "One.\nTwo.");
}

TEST(KnownText, BackwardSegmentIsDroppedAlone) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.json", R"({"segments": [{"start": 0, "end": 2, "text": " One."},
    {"start": 5, "end": 4, "text": " Two."}]})"));
  const auto text = known_text(folder / "talk.wav", {});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(text->timed.size(), 1U);
  EXPECT_EQ(text->unusable.at(0).segment.text, "Two.");
}

TEST(KnownText, RowsOfATableAreTextWithTimesOrWithout) {
  const auto timed = text_of_rows({{"MAN: One.", 0, 1}, {"[music]", 1, 2}, {"Two.", 3, 2}});
  ASSERT_TRUE(timed) << timed.error().text();
  EXPECT_EQ(timed->timed.at(0).text, "One.");
  EXPECT_EQ(timed->unusable.size(), 2U);
  EXPECT_EQ(text_of_rows({{"One. [music]", {}, {}}})->plain, "One.");
  EXPECT_THAT(text_of_rows({{"One.", {}, {}}, {"Two.", 1, 2}}).error().text(),
              HasSubstr("expected a start and an end"));
}

}  // namespace
}  // namespace tutti
