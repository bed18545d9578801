#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/vad/speech.h"
#include "golden_lines.h"

using namespace tutti;

namespace {

/// The same numbers as probabilities() in tools/golden/vad.py: speech that comes and goes.
std::vector<float> probabilities(std::uint32_t seed, std::size_t windows) {
  std::vector<float> out;
  std::uint32_t state = seed, level = 0, left = 0;
  while (out.size() < windows) {
    state = state * 1664525U + 1013904223U;
    if (left == 0) {
      level = (state >> 8) % 5;
      left = (state >> 16) % (1U << (1 + (state >> 28) % 7)) + 1;
    }
    --left;
    state = state * 1664525U + 1013904223U;
    out.push_back(static_cast<float>(std::min(255U, level * 51 + (state >> 24) % 52)) / 256);
  }
  return out;
}

struct PieceCase {
  explicit PieceCase(const std::vector<double>& line)
      : found(probabilities(static_cast<std::uint32_t>(line[0]), static_cast<std::size_t>(line[1]))),
        samples(static_cast<std::int64_t>(line[2])) {
    options.threshold = line[3];
    if (line[4] >= 0) options.neg_threshold = line[4];
    options.min_speech_duration_ms = static_cast<std::int32_t>(line[5]);
    if (line[6] >= 0) options.max_speech_duration_s = line[6];
    options.min_silence_duration_ms = static_cast<std::int32_t>(line[7]);
    options.speech_pad_ms = static_cast<std::int32_t>(line[8]);
    for (std::size_t at = 9; at < line.size(); at += 2)
      expected.push_back(
          {.start = static_cast<std::int64_t>(line[at]), .end = static_cast<std::int64_t>(line[at + 1])});
  }
  std::vector<float> found;
  std::int64_t samples;
  VadOptions options{};
  std::vector<SpeechPiece> expected{};
};

constexpr std::int64_t at(double seconds) {
  return static_cast<std::int64_t>(seconds * 16000);
}

/// Windows of speech for so many seconds.
std::vector<float> speech_of(double seconds) {
  return std::vector<float>(static_cast<std::size_t>(at(seconds) / kVadWindow), 0.9F);
}

}  // namespace

TEST(SpeechPieces, AreFasterWhispersForGivenProbabilities) {
  const auto lines = golden_lines("vad_pieces.txt");
  ASSERT_GT(lines.size(), 1000U);
  for (const auto& line : lines) {
    const PieceCase given(line);
    ASSERT_TRUE(check(given.options));
    EXPECT_EQ(speech_pieces(given.found, given.samples, given.options), given.expected) << "seed " << line[0];
  }
}

TEST(SpeechPieces, OverlongSpeechIsCutAtLowestProbabilityOfLastFiveSeconds) {
  auto found = speech_of(40);
  found[500] = 0.6F;   // 16 s, too early to count
  found[860] = 0.7F;   // 27.52 s
  found[1200] = 0.4F;  // behind the first cut's limit
  const VadOptions options{.max_speech_duration_s = 30, .speech_pad_ms = 0};
  const auto pieces = speech_pieces(found, at(40), options);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0], (SpeechPiece{.start = 0, .end = 860 * kVadWindow + kVadWindow / 2, .forced_cut = true}));
  EXPECT_EQ(pieces[1], (SpeechPiece{.start = pieces[0].end, .end = at(40)}));
}

TEST(SpeechPieces, TheRestOfSpeechThatHadToBeCutIsKeptHoweverShort) {
  auto found = speech_of(40);
  found[930] = 0.6F;                               // 29.76 s
  std::fill(found.begin() + 938, found.end(), 0);  // the limit falls in window 937
  const VadOptions options{.min_speech_duration_ms = 1000, .max_speech_duration_s = 30, .speech_pad_ms = 0};
  const auto pieces = speech_pieces(found, at(40), options);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0], (SpeechPiece{.start = 0, .end = 930 * kVadWindow + kVadWindow / 2, .forced_cut = true}));
  EXPECT_EQ(pieces[1], (SpeechPiece{.start = pieces[0].end, .end = 938 * kVadWindow})) << "a quarter of a second";
}

TEST(SpeechPieces, TooLongSpeechIsCutInASilenceWhereThereIsOneAndNotMarked) {
  auto found = speech_of(36);
  std::fill_n(found.begin() + 300, 5, 0.1F);  // 160 ms at 9.6 s, long before the limit
  const VadOptions options{.max_speech_duration_s = 30, .speech_pad_ms = 0};
  const auto pieces = speech_pieces(found, at(36), options);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0], (SpeechPiece{.start = 0, .end = 300 * kVadWindow}));
  EXPECT_EQ(pieces[1].start, 305 * kVadWindow);
}

TEST(SpeechPieces, StayOrderedDisjointAndWithinTheLengthLimit) {
  for (std::uint32_t seed = 1; seed < 2000; ++seed) {
    const std::size_t windows = 1 + seed * 7 % 900;
    const std::int64_t samples = static_cast<std::int64_t>(windows - 1) * kVadWindow + seed % 512;
    const VadOptions options{.max_speech_duration_s = 0.3 + seed % 40 * 0.1,
                             .min_silence_duration_ms = static_cast<std::int32_t>(seed % 3) * 400,
                             .speech_pad_ms = static_cast<std::int32_t>(seed % 4) * 30};
    ASSERT_TRUE(check(options)) << check(options).error().text();
    std::int64_t last = 0;
    for (const SpeechPiece& piece : speech_pieces(probabilities(seed, windows), samples, options)) {
      ASSERT_LE(last, piece.start) << seed;
      ASSERT_LT(piece.start, piece.end) << seed;
      ASSERT_LE(static_cast<double>(piece.end - piece.start), options.max_speech_duration_s * 16000) << seed;
      last = piece.end;
    }
    ASSERT_LE(last, samples);
  }
}

TEST(SpeechPieces, AreCutEvenWherePaddingExceedsTheLimit) {
  const VadOptions options{.max_speech_duration_s = 1, .speech_pad_ms = 20'000};
  const auto pieces = speech_pieces(speech_of(10), at(10), options);
  ASSERT_GT(pieces.size(), 10U);
  EXPECT_EQ(pieces.front().start, 0);
  EXPECT_EQ(pieces.back().end, at(10));
}

TEST(VadOptions, InvalidValuesAreNamed) {
  const auto output = [](const VadOptions& options) { return check(options) ? "" : check(options).error().what; };
  EXPECT_EQ(output({}), "");
  EXPECT_NE(output({.threshold = 0}).find("threshold"), std::string::npos);
  EXPECT_NE(output({.threshold = std::nan("")}).find("threshold"), std::string::npos);
  EXPECT_NE(output({.neg_threshold = 0.6}).find("neg_threshold"), std::string::npos);
  EXPECT_NE(output({.max_speech_duration_s = 0.85}).find("max_speech_duration"), std::string::npos);
  EXPECT_NE(output({.speech_pad_ms = -1}).find("speech_pad"), std::string::npos);
}
