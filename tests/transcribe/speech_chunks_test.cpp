#include "transcribe/speech_chunks.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

constexpr std::int64_t kSecond = 16000;

SpeechPiece piece(double from, double to) {
  return {.start = static_cast<std::int64_t>(from * kSecond), .end = static_cast<std::int64_t>(to * kSecond)};
}

/// From 2 to 5 and from 10 to 14 s of a recording: 7 s of speech, the border at 3.
const std::vector<SpeechPiece> kTwo{piece(2, 5), piece(10, 14)};

std::vector<Segment> restored(Segment segment) {
  std::vector<Segment> segments{std::move(segment)};
  restore_times(segments, SpeechMap(kTwo));
  return segments;
}

}  // namespace

TEST(RestoreTimes, ASegmentAcrossTheBorderSpansTheSilence) {
  const auto segments = restored({.seek = 100, .start = 1, .end = 4});
  EXPECT_EQ(segments[0].seek, 300);
  EXPECT_DOUBLE_EQ(segments[0].start, 3);
  EXPECT_DOUBLE_EQ(segments[0].end, 11);
}

TEST(RestoreTimes, ASegmentThatEndsAtTheBorderEndsBeforeTheSilence) {
  EXPECT_DOUBLE_EQ(restored({.start = 1, .end = 3})[0].end, 5);
}

TEST(RestoreTimes, AnEmptySegmentAtTheBorderStaysEmpty) {
  const auto segments = restored({.start = 3, .end = 3});
  EXPECT_DOUBLE_EQ(segments[0].start, 10);
  EXPECT_DOUBLE_EQ(segments[0].end, 10);
}

TEST(RestoreTimes, WordsStayInTheirPieceAndCarryTheirSegment) {
  const auto segments =
      restored({.start = 0,
                .end = 7,
                .words = {{.word = " one", .start = 2.8, .end = 3.1}, {.word = " two", .start = 3.1, .end = 4}}});
  EXPECT_NEAR(segments[0].words[0].start, 4.8, 1e-9);
  EXPECT_NEAR(segments[0].words[0].end, 5.1, 1e-9);
  EXPECT_NEAR(segments[0].words[1].start, 10.1, 1e-9);
  EXPECT_NEAR(segments[0].start, 4.8, 1e-9);
  EXPECT_NEAR(segments[0].end, 11, 1e-9);
}

TEST(EndWithAudio, SegmentsEndWithTheAudioAndKeepTheirText) {
  std::vector<Segment> segments{{.start = 0, .end = 4}, {.start = 4, .end = 30}, {.start = 29, .end = 30, .text = "x"}};
  end_with_audio(segments, Seconds(7));
  EXPECT_EQ(segments[0].end, 4);
  EXPECT_EQ(segments[1].start, 4);
  EXPECT_EQ(segments[1].end, 7);
  EXPECT_EQ(segments[2].start, 7);
  EXPECT_EQ(segments[2].end, 7);
  EXPECT_EQ(segments[2].text, "x");
}

TEST(Chunks, NoneCrossesAGapOfASecondOrMore) {
  const std::vector<SpeechPiece> pieces{piece(0, 2), piece(3, 4), piece(10, 12)};
  EXPECT_EQ(chunks_of(pieces, 3000).size(), 1U);
  const std::vector<SampleRange> gaps{{2 * kSecond, 2 * kSecond + kSecond / 2}, {4 * kSecond, 10 * kSecond}};
  const auto chunks = chunks_of(pieces, 3000, gaps);
  ASSERT_EQ(chunks.size(), 2U) << "the first gap is shorter";
  EXPECT_EQ(chunks[0].pieces.size(), 2U);
  EXPECT_EQ(chunks[1].pieces.front().start, 10 * kSecond);
}

TEST(WithinClips, OnlyTheSpeechInTheClipsIsLeft) {
  const std::vector<double> clips{3, 4, 4.5, 11, 13};
  const auto within = within_clips(kTwo, clips, 20 * kSecond);
  ASSERT_TRUE(within);
  EXPECT_EQ(*within, (std::vector{piece(3, 4), piece(4.5, 5), piece(10, 11), piece(13, 14)}));
}

TEST(WithinClips, AForcedCutIsOneOnlyWhereItStillEndsThePiece) {
  std::vector<SpeechPiece> pieces{piece(0, 4), piece(4, 8)};
  pieces[0].forced_cut = true;
  EXPECT_TRUE(within_clips(pieces, std::vector<double>{0}, 9 * kSecond)->front().forced_cut);
  EXPECT_FALSE(within_clips(pieces, std::vector<double>{0, 3}, 9 * kSecond)->front().forced_cut);
}

TEST(WithinClips, AWholeRecordingKeepsItsLastSamples) {
  const std::vector<SpeechPiece> pieces{{.start = 0, .end = 16055}};
  EXPECT_EQ(*within_clips(pieces, std::vector<double>{0}, 16055), pieces);
}

std::vector<double> sounding(const std::vector<double>& clips, const std::vector<SampleRange>& gaps) {
  return clips_with_audio(clips, gaps, 20 * kSecond);
}

TEST(ClipsWithAudio, AreTheClipsWhereThereIsNoLongGap) {
  EXPECT_EQ(sounding({0}, {}), std::vector<double>{0});
  EXPECT_EQ(sounding({0}, {{2 * kSecond, 2 * kSecond + 8000}}), std::vector<double>{0}) << "a pause like another";
  EXPECT_EQ(sounding({1, 2, 5}, {{2 * kSecond, 5 * kSecond}}), (std::vector<double>{1, 2, 5}));
}

TEST(ClipsWithAudio, BeginBehindGapsAndEndBeforeThem) {
  EXPECT_EQ(sounding({0}, {{0, 4 * kSecond}}), (std::vector<double>{4, 20}));
  EXPECT_EQ(sounding({}, {{3 * kSecond, 9 * kSecond}}), (std::vector<double>{0, 3, 9, 20}));
  EXPECT_EQ(sounding({2, 10, 12}, {{3 * kSecond, 5 * kSecond}, {8 * kSecond, 13 * kSecond}}),
            (std::vector<double>{2, 3, 5, 8, 13, 20}));
}

TEST(ClipsWithAudio, AreEmptyWhereThereIsNothingElse) {
  const auto clips = sounding({1, 3}, {{0, 4 * kSecond}});
  ASSERT_EQ(clips.size(), 2U);
  EXPECT_EQ(clips[0], clips[1]);
}

TEST(ChunksOf, WholePiecesFillAWindowAndSubFramePiecesAreDropped) {
  const std::vector<SpeechPiece> pieces{piece(0, 12), piece(20, 30), piece(40, 50), {.start = 960000, .end = 960100}};
  const auto chunks = chunks_of(std::vector(pieces.begin(), pieces.end() - 1), 3000);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].frames(), 2200);
  EXPECT_EQ(chunks[1].first_frame(), 4000);
  EXPECT_TRUE(chunks_of(std::vector{pieces.back()}, 3000).empty());
}

TEST(KeyedChunks, EndInTheLongestGapOfTheirSecondHalf) {
  // Words of 1 s, gaps of 0.2 s, but one of 0.6 s behind the seventh word.
  std::vector<SpeechPiece> words;
  std::vector<float> probabilities;
  double at = 0;
  const auto last = [&](double seconds, float probability) {
    at += seconds;
    probabilities.resize(static_cast<std::size_t>(at * kSecond / kVadWindow), probability);
  };
  for (int i = 0; i < 20; ++i) {
    const double start = at;
    last(1, 0.9F);
    words.push_back(piece(start, at));
    last(i == 6 ? 0.6 : 0.2, 0.1F);
  }
  const auto chunks = keyed_chunks_of(words, probabilities, 0.5F, 3000);
  ASSERT_GE(chunks.size(), 2U);
  std::size_t next = 0;  // each word is in one window, whole, with what is beside it
  for (const SpeechChunk& chunk : chunks) {
    EXPECT_LE(chunk.length(), kKeyedWindow);
    ASSERT_EQ(chunk.pieces.size(), 1U);
    EXPECT_EQ(chunk.pieces[0].start, words[next].start);
    while (next < words.size() && words[next].end <= chunk.pieces[0].end) ++next;
  }
  EXPECT_EQ(next, words.size());
}

TEST(KeyedChunks, EndWhereATransmissionDoes) {
  const std::vector<SpeechPiece> words{piece(0, 1), piece(1.2, 2.2), piece(6.5, 7.5)};
  std::vector<float> probabilities;
  for (int window = 0; window < 250; ++window) {
    const std::int64_t middle = window * kVadWindow + kVadWindow / 2;
    const bool is_keyed =
        std::ranges::any_of(words, [&](const auto& word) { return word.start <= middle && middle < word.end; });
    probabilities.push_back(is_keyed ? 0.9F : 0.1F);
  }
  const auto chunks = keyed_chunks_of(words, probabilities, 0.5F, 3000);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].pieces.front().end, words[1].end);
  EXPECT_EQ(chunks[1].pieces.front().start, words[2].start);
}

TEST(KeyedChunks, HaveNothingThatIsInNoClip) {
  const std::vector<float> probabilities(1000, 0.9F);
  const std::vector<double> clips{0, 5, 5.5, 9, 9, 12};
  const std::vector<SpeechPiece> keyed{piece(0, 12)};
  const auto within = within_clips(keyed, clips, 12 * 16'000).value();
  const auto chunks = keyed_chunks_of(within, probabilities, 0.5F, 3000, {}, between_clips(clips, 12 * 16'000));
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].pieces.front().end, piece(0, 5).end);
  EXPECT_EQ(chunks[1].pieces.front().start, piece(5.5, 9).start);
}

TEST(KeyedChunks, CutWhatIsLongerThanAWindow) {
  const std::vector<SpeechPiece> one{piece(1, 51)};
  const std::vector<float> probabilities(2000, 0.9F);
  const auto chunks = keyed_chunks_of(one, probabilities, 0.5F, 3000);
  ASSERT_EQ(chunks.size(), 3U);
  Seconds all{};
  for (const SpeechChunk& chunk : chunks) all += chunk.length();
  EXPECT_EQ(all, Seconds(50));
}

TEST(FitKeying, WindowsOfKeyingAreReadOnceAndMayRepeatThemselves) {
  SpeechOptions options;
  options.vad = VadOptions{};
  fit_keying(options);
  EXPECT_TRUE(options.long_form.compression_ratio_threshold && options.decoding.timestamps) << "speech stays as it is";
  options.vad->method = VadMethod::keying;
  fit_keying(options);
  EXPECT_FALSE(options.long_form.compression_ratio_threshold);
  EXPECT_FALSE(options.long_form.logprob_threshold);
  EXPECT_EQ(options.long_form.no_speech_threshold, 0.1);
  options.long_form.logprob_threshold = -0.5;
  fit_keying(options);
  EXPECT_EQ(options.long_form.logprob_threshold, -0.5) << "asked for";
  EXPECT_FALSE(options.long_form.condition_on_previous_text);
  EXPECT_TRUE(options.long_form.without_timestamps);
  EXPECT_FALSE(options.decoding.timestamps);
}
