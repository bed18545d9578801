#include "transcribe/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transcribe/bench.h"
#include "transcribe/speech_chunks.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

BenchTrial trial(const std::string& type, double seconds, const std::string& text) {
  return {.setting = {.compute_type = type}, .audio = Seconds(100), .elapsed = Seconds(seconds), .text = text};
}

std::vector<std::optional<DeviceLimits>> unknown(const std::vector<BenchTrial>& trials) {
  return std::vector<std::optional<DeviceLimits>>(trials.size());
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += " word" + std::to_string(i);
  return text;
}

}  // namespace

TEST(BenchGrid, HasEveryCombinationAndTheMostExactComesFirst) {
  const auto grid = bench_grid({"cpu"}, {"int8", "float32"}, {1, 8});
  ASSERT_EQ(grid.size(), 4U);
  EXPECT_EQ(grid[0].compute_type, "float32");
  EXPECT_EQ(grid[0].batch_size, 1);
  EXPECT_EQ(grid[1].batch_size, 8);
  EXPECT_EQ(grid[2].compute_type, "int8");
}

TEST(BenchOptions, AreThoseOfABatchedRunAtTemperatureZero) {
  const TranscribeOptions options = bench_options(Seconds(300));
  EXPECT_TRUE(options.batched);
  ASSERT_TRUE(options.vad);
  EXPECT_EQ(options.vad->min_silence_duration_ms, kBatchedSilenceMs) << "windows are cut as the recommended flags do";
  EXPECT_TRUE(check(*options.vad));
  EXPECT_EQ(options.long_form.temperatures, std::vector<double>{0});
  EXPECT_EQ(options.long_form.clip_timestamps, (std::vector<double>{0, 300}));
  EXPECT_EQ(options.decoding.beams(), 0);
}

TEST(BenchLimits, AreParsedFromEngineOutputAndMissingOneIsNamed) {
  const std::string text = "flops 4e11\nbandwidth 3e10\nwindow_flops 4e10\nstep_bytes 3e7\nsequence_bytes 9e6\n";
  const auto limits = parse_limits(text);
  ASSERT_TRUE(limits) << limits.error().text();
  EXPECT_EQ(limits->bandwidth, 3e10);
  EXPECT_EQ(limits->sequence_bytes, 9e6);
  const auto short_of_one = parse_limits(text.substr(0, text.find("sequence_bytes")));
  ASSERT_FALSE(short_of_one);
  EXPECT_THAT(short_of_one.error().what, HasSubstr("sequence_bytes"));
}

TEST(BenchLimits, AWindowCostsItsArithmeticAndAStepItsShareOfTheWeights) {
  const DeviceLimits limits{.flops = 100, .bandwidth = 10, .window_flops = 50, .step_bytes = 40, .sequence_bytes = 5};
  BenchTrial measured{.windows = 8, .decoder_steps = 16};
  measured.setting.batch_size = 4;
  EXPECT_DOUBLE_EQ(least_time(limits, measured).count(), 8 * 50 / 100.0 + 16 * (40 / 4.0 + 5) / 10);
  measured.windows = 2;  // two windows cannot be four together
  EXPECT_DOUBLE_EQ(least_time(limits, measured).count(), 2 * 50 / 100.0 + 16 * (40 / 2.0 + 5) / 10);
}

TEST(BenchResult, TheFastestWithTheSameWordsIsRecommended) {
  const std::vector trials{trial("float32", 10, words(100)), trial("bfloat16", 5, words(100) + "!"),
                           trial("int8", 2, words(90))};
  const auto decision = score_trials(trials, unknown(trials));
  EXPECT_EQ(decision.recommended, 1U);
  EXPECT_EQ(decision.trials[0].word_errors, 0);
  EXPECT_EQ(decision.trials[1].word_errors, 0);
  EXPECT_DOUBLE_EQ(*decision.trials[2].word_errors, 0.1);
}

TEST(BenchResult, FailedTrialIsNeitherRecommendedNorReference) {
  std::vector trials{trial("float32", 0, ""), trial("bfloat16", 5, words(10)), trial("int8", 4, words(10))};
  trials[0].error = Error{Fault::exhausted, "no memory"};
  const auto decision = score_trials(trials, unknown(trials));
  EXPECT_EQ(decision.recommended, 2U);
  EXPECT_FALSE(decision.trials[0].word_errors);
  EXPECT_EQ(decision.reference, 1U);
  trials.resize(1);
  EXPECT_FALSE(score_trials(trials, unknown(trials)).recommended);
  EXPECT_FALSE(score_trials(trials, unknown(trials)).reference);
}

TEST(BenchResult, OneOtherDigitAmongManyIsOneWord) {
  const std::vector trials{trial("float32", 10, "one two three four five six seven eight nine zero"),
                           trial("int8", 5, "one two three four five six seven eight nine nine")};
  EXPECT_DOUBLE_EQ(*score_trials(trials, unknown(trials)).trials[1].word_errors, 0.1);
}

TEST(BenchResult, TheShareOfTheLimitIsTheLeastTimeOverTheTimeTaken) {
  std::vector trials{trial("float32", 10, words(3))};
  trials[0].windows = 1;
  const auto decision = score_trials(trials, {DeviceLimits{1, 1, 2.5, 1, 1}});
  EXPECT_DOUBLE_EQ(decision.trials[0].share_of_limit.value(), 0.25);
}

TEST(PeakMemory, GpuPeakIsOwnMemoryOrGrowthSinceTheStart) {
  EXPECT_EQ(held_by_us({.used = Bytes{900}, .own = Bytes{300}}, Bytes{100}), Bytes{300});
  EXPECT_EQ(held_by_us({.used = Bytes{900}}, Bytes{100}), Bytes{800}) << "a container hides the processes";
  EXPECT_EQ(held_by_us({.used = Bytes{50}}, Bytes{100}), Bytes{0}) << "another process has ended";
  EXPECT_FALSE(held_by_us({.used = Bytes{900}}, {}));
  EXPECT_FALSE(held_by_us({}, Bytes{100}));
}

TEST(PeakMemory, OnACpuIsResidentAlone) {
  PeakMemory memory("cpu");
  memory.look();
  EXPECT_FALSE(memory.on_gpu());
}

TEST(BundledClip, IsThereToBeRead) {
  const auto clip = bundled_clip();
  ASSERT_TRUE(clip) << clip.error().text();
  EXPECT_GT(std::filesystem::file_size(clip->path), 10000U);
}
