#include "transcript/doubt/doubt.h"

#include <gmock/gmock.h>

using namespace tutti;

namespace {

Segment segment(double start, double end, std::string text) {
  Segment made{
      .seek = static_cast<std::int64_t>(start / 30) * 3000, .start = start, .end = end, .text = std::move(text)};
  made.avg_logprob = -0.2;
  return made;
}

Transcript transcript_of(std::vector<Segment> segments, std::string language = "en") {
  return {.text = {}, .segments = std::move(segments), .language = std::move(language)};
}

/// Doubts where there is speech from the start to the end of the text.
std::vector<Doubt> doubts_in(const Transcript& transcript) {
  return find_doubts(transcript, std::vector<SpeechSegment>{{0, transcript.segments.back().end}});
}

/// The finding of one kind; fails the test when there is not exactly one.
Doubt only(const std::vector<Doubt>& doubts, DoubtKind kind) {
  std::vector<Doubt> found;
  for (const Doubt& doubt : doubts)
    if (doubt.kind == kind) found.push_back(doubt);
  EXPECT_EQ(found.size(), 1U) << name_of(kind);
  return found.empty() ? Doubt{} : found.front();
}

}  // namespace

TEST(Doubt, AnEmptyTranscriptIsNotDoubtful) {
  EXPECT_TRUE(find_doubts({}, std::nullopt).empty());
  EXPECT_TRUE(find_doubts({}, std::vector<SpeechSegment>{}).empty());
}

TEST(Doubt, ALoopIsFoundAcrossSegmentsOnceAndWithItsTime) {
  std::vector<Segment> segments{segment(0, 4, " We came to the river at dawn.")};
  for (int i = 0; i < 6; ++i) segments.push_back(segment(4 + 2 * i, 6 + 2 * i, " I'm going to go."));
  segments.push_back(segment(16, 20, " And then the rain began to fall."));
  const auto doubts = doubts_in(transcript_of(segments));
  const Doubt loop = only(doubts, DoubtKind::loop);
  EXPECT_NEAR(loop.start, 4, 0.01);
  EXPECT_NEAR(loop.end, 16, 0.01);
  EXPECT_THAT(loop.reason, testing::HasSubstr("4 words 6 times in a row"));
  EXPECT_GT(loop.severity, 0.7);
}

TEST(Doubt, ALoopInJapaneseIsFoundWithoutSpaces) {
  std::string text = "そして";
  for (int i = 0; i < 12; ++i) text += "ありがとう";
  const Doubt loop = only(doubts_in(transcript_of({segment(0, 12, text)}, "ja")), DoubtKind::loop);
  EXPECT_THAT(loop.reason, testing::HasSubstr("5 characters 12 times"));
}

TEST(Doubt, TextOverSilenceIsInventedAndAPhantomPhraseAloneIsNot) {
  const auto transcript = transcript_of({segment(0, 3, " Good evening."), segment(10, 14, " Thanks for watching!")});
  const Doubt invented = only(find_doubts(transcript, std::vector<SpeechSegment>{{0, 3}}), DoubtKind::invented);
  EXPECT_EQ(invented.start, 10);
  EXPECT_THAT(invented.reason, testing::HasSubstr("known to say this to silence"));
  EXPECT_TRUE(find_doubts(transcript, std::vector<SpeechSegment>{{0, 3}, {10, 12}}).empty());
}

TEST(Doubt, WordsInASilenceOfTheirSegmentAreInvented) {
  Segment made = segment(0, 20, " Good evening to you all and some more words here.");
  for (int i = 0; i < 5; ++i) made.words.push_back({" heard", 0.4 * i, 0.4 * i + 0.3, 0.9});
  for (int i = 0; i < 5; ++i) made.words.push_back({" unheard", 10 + 0.5 * i, 10.4 + 0.5 * i, 0.9});
  const Doubt invented =
      only(find_doubts(transcript_of({made}), std::vector<SpeechSegment>{{0, 3}, {18, 20}}), DoubtKind::invented);
  EXPECT_EQ(invented.start, 10);
  EXPECT_EQ(invented.end, 12.4);
}

TEST(Doubt, WithoutADetectorTheModelsOwnSilenceCounts) {
  auto transcript = transcript_of({segment(0, 3, " Good evening.")});
  EXPECT_TRUE(find_doubts(transcript, std::nullopt).empty());
  transcript.segments[0].no_speech_prob = 0.97;
  EXPECT_EQ(only(find_doubts(transcript, std::nullopt), DoubtKind::invented).severity, 0.5);
}

TEST(Doubt, SpeechWithoutTextIsAGapAndShortPausesDoNotSplitIt) {
  const auto transcript = transcript_of({segment(0, 5, " Good evening."), segment(20, 25, " And good night.")});
  const std::vector<SpeechSegment> speech{{0, 5}, {8, 10}, {10.5, 12}, {20, 25}};
  const Doubt gap = only(find_doubts(transcript, speech), DoubtKind::gap);
  EXPECT_EQ(gap.start, 8);
  EXPECT_EQ(gap.end, 12);
  EXPECT_THAT(gap.reason, testing::HasSubstr("3.5 s of speech without text"));
  EXPECT_TRUE(gap.excerpt.empty());
}

TEST(Doubt, AWindowOfSpeechWithTwoWordsIsAGapToo) {
  const Doubt gap = only(doubts_in(transcript_of({segment(0, 25, " Good evening.")})), DoubtKind::gap);
  EXPECT_THAT(gap.reason, testing::HasSubstr("25.0 s of speech have only 13 characters"));
}

TEST(Doubt, TooFastSpeechIsDoubtful) {
  const std::string text =
      " It was a bright cold day in April and the clocks were striking thirteen when he came home to the house.";
  EXPECT_TRUE(doubts_in(transcript_of({segment(0, 5, text)})).empty());
  const Doubt fast = only(doubts_in(transcript_of({segment(0, 1.5, text)})), DoubtKind::fast);
  EXPECT_GT(fast.severity, 0.6);
  const std::vector<SpeechSegment> little{{0, 1.5}};  // the time is long enough, the speech in it is not
  EXPECT_THAT(only(find_doubts(transcript_of({segment(0, 10, text)}), little), DoubtKind::fast).reason,
              testing::HasSubstr("s of speech"));
}

TEST(Doubt, ChineseRateIsMeasuredInSyllables) {
  const std::string text = "春天来了花园里的花都开了我们一起去看看吧好不好";  // 23 syllables
  EXPECT_TRUE(doubts_in(transcript_of({segment(0, 4, text)}, "zh")).empty());
  only(doubts_in(transcript_of({segment(0, 1.2, text)}, "zh")), DoubtKind::fast);
}

TEST(Doubt, AnotherScriptOrLanguageIsAFlipAndANameIsNot) {
  const auto flips = [](std::string text, std::string language) {
    return doubts_in(transcript_of({segment(0, 6, std::move(text))}, std::move(language)));
  };
  EXPECT_THAT(only(flips(" Спасибо за внимание, до свидания.", "en"), DoubtKind::language).reason,
              testing::HasSubstr("Cyrillic script where Latin is expected (English)"));
  EXPECT_THAT(only(flips(" und das ist nicht so wie wir es haben", "en"), DoubtKind::language).reason,
              testing::HasSubstr("reads as German, the rest is English"));
  EXPECT_TRUE(flips(" She met Müller and El Greco at the Café de la Paix.", "en").empty());
  EXPECT_TRUE(flips("今日はYouTubeを見ました。", "ja").empty());
  EXPECT_TRUE(flips(" Dobar dan, kako ste?", "sr").empty());
  // As openai-whisper and OpenAI's API name them.
  EXPECT_TRUE(flips(" und das ist nicht so wie wir es haben", "german").empty());
  EXPECT_THAT(only(flips(" Спасибо за внимание, до свидания.", "English"), DoubtKind::language).reason,
              testing::HasSubstr("Cyrillic script where Latin is expected (English)"));
}

TEST(Doubt, ModelScoresRaiseOneDoubtPerWindow) {
  auto transcript = transcript_of({segment(0, 4, " One thing."), segment(4, 9, " Another thing.")});
  for (Segment& each : transcript.segments) {
    each.avg_logprob = -1.4;
    each.temperature = 0.8;
  }
  const auto doubts = doubts_in(transcript);
  const Doubt improbable = only(doubts, DoubtKind::improbable);
  EXPECT_EQ(improbable.end, 9);
  EXPECT_THAT(only(doubts, DoubtKind::fallback).reason, testing::HasSubstr("temperature 0.8"));
  EXPECT_EQ(doubts.front().kind, DoubtKind::improbable) << "the worst first";
  EXPECT_GT(doubtfulness(doubts), improbable.severity);
}
