#include <gtest/gtest.h>

#include <cmath>

#include "transcript/clips.h"
#include "transcript/fallback.h"
#include "transcript/prompt.h"
#include "transcript/slices.h"

using namespace tutti;

namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t kZero = 1000;  // the timestamp 0.00; one step is 0.02 s

Tokens counting(std::int32_t from, std::int32_t to) {
  Tokens tokens;
  for (auto i = from; i < to; ++i) tokens.push_back(i);
  return tokens;
}

}  // namespace

TEST(Slices, AreCutAtPairsAndTheWindowGoesOnAtTheLastOne) {
  const Tokens tokens{kZero, 1, kZero + 100, kZero + 150, 2, kZero + 200, kZero + 250, 3};
  const SlicedWindow sliced = slice_window(tokens, {500, 3000}, kZero);
  ASSERT_EQ(sliced.slices.size(), 2U) << "audio after the last pair is decoded again";
  EXPECT_DOUBLE_EQ(sliced.slices[0].start, 5.0);
  EXPECT_DOUBLE_EQ(sliced.slices[0].end, 7.0);
  EXPECT_DOUBLE_EQ(sliced.slices[1].start, 8.0);
  EXPECT_DOUBLE_EQ(sliced.slices[1].end, 9.0);
  EXPECT_EQ(sliced.slices[1].tokens.front(), kZero + 150);
  EXPECT_EQ(sliced.next_seek, 500 + 2 * 200);
}

TEST(Slices, ASingleTimestampAtTheEndClosesTheWindow) {
  const Tokens tokens{kZero, 1, kZero + 100, kZero + 100, 2, kZero + 200};
  const SlicedWindow sliced = slice_window(tokens, {0, 2000}, kZero);
  ASSERT_EQ(sliced.slices.size(), 2U);
  EXPECT_DOUBLE_EQ(sliced.slices[1].end, 4.0);
  EXPECT_EQ(sliced.next_seek, 2000);
}

TEST(Slices, WithoutAPairTheWindowIsOneSegmentUpToItsLastTimestamp) {
  const auto end_of = [](const Tokens& tokens) {
    const SlicedWindow sliced = slice_window(tokens, {1000, 1500}, kZero);
    EXPECT_EQ(sliced.slices.size(), 1U);
    EXPECT_EQ(sliced.next_seek, 2500);
    return sliced.slices[0].end;
  };
  EXPECT_DOUBLE_EQ(end_of({kZero, 1, kZero + 50}), 11.0);
  EXPECT_DOUBLE_EQ(end_of({kZero, 1}), 25.0) << "a lone 0.00 does not mark the end";
  EXPECT_DOUBLE_EQ(end_of({1, 2}), 25.0);
  EXPECT_DOUBLE_EQ(end_of({}), 25.0);
}

TEST(Slices, APairAtZeroGoesOnBehindTheWindowInsteadOfForEver) {
  const Tokens tokens{1, kZero, kZero};
  EXPECT_EQ(slice_window(tokens, {0, 3000}, kZero).next_seek, 3000);
}

TEST(Fallback, IsCalledForByRepetitionOrImprobabilityButNotOverSilence) {
  const LongFormOptions options;
  EXPECT_FALSE(needs_fallback({.compression_ratio = 2.4, .avg_logprob = -1.0, .no_speech_prob = 0}, options));
  EXPECT_TRUE(needs_fallback({.compression_ratio = 2.41, .avg_logprob = -0.1, .no_speech_prob = 0}, options));
  EXPECT_TRUE(needs_fallback({.compression_ratio = 1, .avg_logprob = -1.01, .no_speech_prob = 0.6}, options));
  EXPECT_FALSE(needs_fallback({.compression_ratio = 9, .avg_logprob = -1.01, .no_speech_prob = 0.61}, options));
  EXPECT_TRUE(needs_fallback({.compression_ratio = 9, .avg_logprob = -0.5, .no_speech_prob = 0.9}, options));
  EXPECT_FALSE(needs_fallback({.compression_ratio = 1, .avg_logprob = NAN, .no_speech_prob = NAN}, options));
}

TEST(Fallback, AThresholdThatIsOffGivesNoReason) {
  const WindowScores bad{.compression_ratio = 9, .avg_logprob = -9, .no_speech_prob = 0};
  EXPECT_TRUE(needs_fallback(bad, {.compression_ratio_threshold = {}}));
  EXPECT_TRUE(needs_fallback(bad, {.logprob_threshold = {}}));
  EXPECT_FALSE(needs_fallback(bad, {.compression_ratio_threshold = {}, .logprob_threshold = {}}));
}

TEST(Fallback, WithoutAnIncrementThereIsOneTemperatureAndWithABadOneAnError) {
  EXPECT_EQ(fallback_temperatures(0.4, std::nullopt).value(), std::vector{0.4});
  EXPECT_EQ(fallback_temperatures(1.5, 0.2).value(), std::vector{1.5});
  for (const double bad : {0.0, -0.2, std::nan("")})
    EXPECT_EQ(fallback_temperatures(0, bad).error().fault, Fault::usage);
  for (const double bad : {-1.0, 0.0005, 1e308, std::nan("")}) {
    const auto refused = fallback_temperatures(bad, 0.2);
    ASSERT_FALSE(refused) << bad;
    EXPECT_TRUE(refused.error().what.starts_with("temperature: expected 0, or a number")) << refused.error().what;
  }
  EXPECT_TRUE(fallback_temperatures(0.001, std::nullopt));
}

TEST(Silence, NeedsNoSpeechScoreAndUnconfidentText) {
  const LongFormOptions options;
  EXPECT_TRUE(is_silence({.compression_ratio = 1, .avg_logprob = -1.0, .no_speech_prob = 0.61}, options));
  EXPECT_FALSE(is_silence({.compression_ratio = 1, .avg_logprob = -0.9, .no_speech_prob = 0.99}, options));
  EXPECT_FALSE(is_silence({.compression_ratio = 1, .avg_logprob = -9, .no_speech_prob = 0.6}, options));
  EXPECT_TRUE(
      is_silence({.compression_ratio = 1, .avg_logprob = 0, .no_speech_prob = 0.61}, {.logprob_threshold = {}}));
  EXPECT_FALSE(
      is_silence({.compression_ratio = 1, .avg_logprob = -9, .no_speech_prob = 1}, {.no_speech_threshold = {}}));
}

TEST(PromptHistory, HoldsTheLastTokensThatFitHalfTheContextLessOne) {
  PromptHistory history(counting(0, 5), false, 448);
  EXPECT_EQ(history.next(), counting(0, 5));
  history.append(counting(5, 300));
  EXPECT_EQ(history.next(), counting(300 - 223, 300));
  history.forget();
  EXPECT_TRUE(history.next().empty());
  EXPECT_EQ(history.decoded().size(), 295U) << "forgetting concerns prompts, not the text";
}

TEST(PromptHistory, ACarriedInitialPromptLeadsEveryPrompt) {
  PromptHistory history({-1, -2}, true, 448);
  history.append(counting(0, 300));
  Tokens expected = counting(300 - 221, 300);
  expected.insert(expected.begin(), {-1, -2});
  EXPECT_EQ(history.next(), expected);
  history.forget();
  EXPECT_EQ(history.next(), (Tokens{-1, -2}));
}

TEST(PromptHistory, CarriedPromptNeverMakesThePromptTooLong) {
  for (const std::int32_t length : {222, 223, 224, 400}) {
    PromptHistory history(counting(0, length), true, 448);
    EXPECT_LE(history.next().size(), 223U);
    history.append(counting(0, 500));
    EXPECT_LE(history.next().size(), 223U);
  }
}

TEST(Clips, ArePairsOfSecondsCutAtTheEndOfTheRecording) {
  const auto pairs = [](const std::vector<double>& points) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    const auto clips = clips_from(points, 1000).value();
    for (const Clip& clip : clips) out.emplace_back(clip.start, clip.end);
    return out;
  };
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(pairs({}), (Pairs{{0, 1000}}));
  EXPECT_EQ(pairs({0}), (Pairs{{0, 1000}}));
  EXPECT_EQ(pairs({1, 2.5, 4}), (Pairs{{100, 250}, {400, 1000}}));
  EXPECT_EQ(pairs({8, 99, 2, 1e300}), (Pairs{{800, 1000}, {200, 1000}}));
  EXPECT_EQ(pairs({0.125, 0.375}), (Pairs{{12, 38}})) << "halves go to the even frame";
}

TEST(Clips, APointThatIsNoTimeIsAnErrorOfUse) {
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    const auto clips = clips_from(std::vector<double>{0, bad}, 1000);
    ASSERT_FALSE(clips);
    EXPECT_EQ(clips.error().fault, Fault::usage);
  }
}

TEST(CompressionRatio, IsZeroForNothingAndLargeForALoop) {
  EXPECT_EQ(compression_ratio(""), 0);
  EXPECT_LT(compression_ratio("ask not what your country can do for you"), 1.2);
  std::string loop;
  for (int i = 0; i < 50; ++i) loop += " thank you";
  EXPECT_GT(compression_ratio(loop), 2.4);
}
