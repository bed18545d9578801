#include "view/review.h"

#include <gmock/gmock.h>

#include "view/markup.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;

namespace {

ReviewList one_doubtful() {
  ReviewFinding loop{.kind = "loop",
                     .start = Seconds(61.25),
                     .end = Seconds(75),
                     .severity = 0.876,
                     .reason = "4 words 6 times in a row",
                     .excerpt = "he said \"stop\", <b>stop</b>",
                     .peaks = {0.0F, 0.5F, 1.0F},
                     .wave_start = Seconds(57),
                     .wave_end = Seconds(79)};
  ReviewRecording recording{.name = "a & b/<talk>.mp3", .transcript = "=cmd|'x'!A1.json", .audio = "../a%20b.mp3"};
  recording.length = Seconds(3600);
  recording.doubt = 0.9;
  recording.findings = {loop};
  return {.looked_at = 20000, .recordings = {recording}};
}

}  // namespace

TEST(Review, HeadlineCountsRecordingsToListenTo) {
  ReviewList list = one_doubtful();
  EXPECT_EQ(review_headline(list), "20,000 done, listen to this one");
  list.recordings.resize(37, list.recordings.front());
  EXPECT_EQ(review_headline(list), "20,000 done, listen to these 37");
  list.recordings.clear();
  EXPECT_EQ(review_headline(list), "20,000 done, none doubtful");
}

TEST(Review, TheTableQuotesWhatItMustAndDisarmsFormulas) {
  EXPECT_EQ(review_csv(one_doubtful()),
            "recording,position,reason,severity,excerpt,transcript\r\n"
            "a & b/<talk>.mp3,0:01:01.3-0:01:15.0,loop: 4 words 6 times in a row,0.88,"
            "\"he said \"\"stop\"\", <b>stop</b>\",'=cmd|'x'!A1.json\r\n");
}

TEST(Review, ThePageEscapesEverythingAndLoadsNothingButTheRecording) {
  const std::string page = review_html(one_doubtful());
  EXPECT_THAT(page, HasSubstr("a &amp; b/&lt;talk&gt;.mp3"));
  EXPECT_THAT(page, HasSubstr("he said &quot;stop&quot;, &lt;b&gt;stop&lt;/b&gt;"));
  EXPECT_THAT(page, HasSubstr("src=\"../a%20b.mp3#t=60.2,76.0\""));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  for (const char* outside : {"<script", "http", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(Review, SpeakersHaveColoursAndEachTurnAPlayer) {
  ReviewList list{.looked_at = 1, .with_speakers = 3};
  ReviewConversation talk{.name = "talk.mp3", .transcript = "talk.json", .audio = "../talk.mp3"};
  talk.speakers = {"<Anna>", "Bert"};
  talk.turns = {{Seconds(0), Seconds(30), 0, "Good & day."},
                {Seconds(30), Seconds(40), 1, ""},
                {Seconds(42), Seconds(45.5), 0, "Well."}};
  list.conversations = {talk};
  const std::string page = review_html(list);
  EXPECT_THAT(page, HasSubstr("<h1>Who speaks</h1>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"who s0\">&lt;Anna&gt; <span class=\"soft\">0:33</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"who s1\">Bert <span class=\"soft\">0:10</span>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#c0t1\"><rect class=\"t s1\" x=\"659.3\""));
  EXPECT_THAT(page, HasSubstr("<article class=\"turn s1\" id=\"c0t1\">"));
  EXPECT_THAT(page, HasSubstr("src=\"../talk.mp3#t=42.0,45.5\""));
  EXPECT_THAT(page, HasSubstr("Good &amp; day."));
  EXPECT_THAT(page, HasSubstr("3 turns"));
  EXPECT_THAT(page, HasSubstr("2 more have speakers"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(Review, TheWaveformMarksTheDoubtfulStretch) {
  const std::string page = review_html(one_doubtful());
  // 22 s over 3 columns: 4.25 s and 18 s from the left
  EXPECT_THAT(page, HasSubstr("<rect class=\"m\" x=\"0.6\" y=\"0\" width=\"1.9\""));
  EXPECT_THAT(page, HasSubstr("M2 0.0h.8v56.0h-.8z"));
}

TEST(Review, FindingsAtOneTimeShareOnePlayer) {
  ReviewList list = one_doubtful();
  ReviewFinding again = list.recordings[0].findings[0];
  again.kind = "improbable";
  list.recordings[0].findings.push_back(again);
  again.start = Seconds(500);
  again.end = Seconds(510);
  for (int i = 0; i < 20; ++i, again.start += Seconds(1)) list.recordings[0].findings.push_back(again);
  const std::string page = review_html(list);
  std::size_t players = 0;
  for (auto at = page.find("<audio"); at != std::string::npos; at = page.find("<audio", at + 1)) ++players;
  EXPECT_EQ(players, 12U);
  EXPECT_THAT(page, HasSubstr("improbable</span>"));
  EXPECT_THAT(page, HasSubstr("and 9 more findings in review.csv"));
}

TEST(Review, ARecordingThatWasNotFoundHasNoPlayer) {
  ReviewList list = one_doubtful();
  list.recordings[0].audio.clear();
  list.without_audio = 1200;
  const std::string page = review_html(list);
  EXPECT_THAT(page, Not(HasSubstr("<audio")));
  EXPECT_THAT(page, HasSubstr("the recording was not found"));
  EXPECT_THAT(page, HasSubstr("1,200 were reviewed by their text alone"));
}

TEST(Markup, PathsBecomeUrlsByteForByte) {
  EXPECT_EQ(url_of_path("../tälk #1?.mp3"), "../t%C3%A4lk%20%231%3F.mp3");
  EXPECT_EQ(url_of_path("a:b.mp3"), "a%3Ab.mp3");
  EXPECT_EQ(url_of_bytes("text/plain", "Man"), "data:text/plain;base64,TWFu");
  EXPECT_EQ(url_of_bytes("text/plain", "\xffM"), "data:text/plain;base64,/00=");
  EXPECT_EQ(url_of_bytes("text/plain", "M"), "data:text/plain;base64,TQ==");
}
