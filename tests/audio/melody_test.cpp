// The melody of speech: its range, the rise of a question, and what is kept.

#include "audio/voice/melody.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "audio/voice/pitch.h"

using namespace tutti;

namespace {

constexpr Hertz kRate{16000};
constexpr int kHop = 200;
const Seconds kFrame = length_of(kHop, kRate);

/// A voice-like tone of ten overtones, of a pitch that swings by `swing` semitones around 180 Hz.
std::vector<float> swinging_tone(double seconds, double swing) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * kRate.value));
  double phase = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double time = static_cast<double>(i) / kRate.value;
    const double hertz = 180 * std::exp2(swing / 12 * std::sin(2 * std::numbers::pi * time));
    phase += 2 * std::numbers::pi * hertz / kRate.value;
    for (int overtone = 1; overtone <= 10; ++overtone)
      samples[i] += static_cast<float>(0.1 / overtone * std::sin(overtone * phase));
  }
  return samples;
}

std::vector<float> pitch_of_voice(const std::vector<float>& samples) {
  return pitch_of(samples, {.rate = kRate, .hop = kHop});
}

/// Semitones from the lowest to the highest pitch.
double width_of(const std::vector<float>& pitch) {
  std::vector<float> voiced;
  std::ranges::copy_if(pitch, std::back_inserter(voiced), [](float hertz) { return hertz > 0; });
  const auto [low, high] = std::ranges::minmax(voiced);
  return 12 * std::log2(high / low);
}

}  // namespace

TEST(Melody, RangeMultipliesSemitonesFromTheMedian) {
  const std::vector<float> pitch{0, 100, 200, 400, 0};
  const auto wider = wanted_pitch(pitch, kFrame, {.range = 0.25});
  EXPECT_FLOAT_EQ(wider[0], 0);
  EXPECT_FLOAT_EQ(wider[2], 200);
  // an octave off is a mistake of the search
  EXPECT_FLOAT_EQ(wider[1], 100);
  const auto twice = wanted_pitch(std::vector<float>{190, 200, 210}, kFrame, {.range = 2});
  EXPECT_NEAR(twice[0], 200 * std::pow(0.95, 2), 0.01);
  EXPECT_NEAR(twice[2], 200 * std::pow(1.05, 2), 0.01);
}

TEST(Melody, RiseEndsAboveTheMedian) {
  const std::vector<float> pitch(80, 200);
  const auto wanted = wanted_pitch(pitch, kFrame, {.rise = 5});
  EXPECT_FLOAT_EQ(wanted.front(), 200);
  EXPECT_NEAR(wanted.back(), 200 * std::exp2(5.0 / 12), 0.1);
  EXPECT_GT(wanted[60], 205) << "the rise is no jump";
  EXPECT_TRUE(std::ranges::is_sorted(wanted));
}

TEST(Melody, SamplesGetTheWantedRangeAndKeepTheirLength) {
  const auto samples = swinging_tone(2, 1.5);
  const auto pitch = pitch_of_voice(samples);
  const auto wanted = wanted_pitch(pitch, kFrame, {.range = 2});
  const auto made = with_pitch(samples, pitch, wanted, kRate, kHop);
  ASSERT_EQ(made.size(), samples.size());
  const double before = width_of(pitch), after = width_of(pitch_of_voice(made));
  EXPECT_NEAR(before, 3, 0.2);
  EXPECT_NEAR(after, 6, 0.6);
}

TEST(Melody, SamplesWithoutPitchStayAsTheyAre) {
  std::vector<float> samples(8000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.3F * std::sin(static_cast<float>(i * i % 977));
  const std::vector<float> pitch(samples.size() / kHop, 0.0F);
  const auto made = with_pitch(samples, pitch, pitch, kRate, kHop);
  for (std::size_t i = 200; i + 200 < samples.size(); ++i) ASSERT_NEAR(made[i], samples[i], 1e-4F) << i;
}

TEST(Melody, WithoutARequestOrAPitchNothingChanges) {
  const auto samples = swinging_tone(0.5, 1);
  EXPECT_EQ(with_melody(samples, kRate, {}), samples);
  const std::vector<float> silence(8000, 0.0F);
  EXPECT_EQ(with_melody(silence, kRate, {.range = 2}), silence);
  EXPECT_NE(with_melody(samples, kRate, {.rise = 5}), samples);
}

TEST(Melody, HumBehindSpeechDoesNotTakeTheRise) {
  auto samples = swinging_tone(1, 0.1);
  const auto spoken = samples.size();
  for (const float value : swinging_tone(0.5, 0.1)) samples.push_back(0.01F * value);
  const auto pitch = pitch_of_voice(with_melody(samples, kRate, {.rise = 5}));
  const auto last = spoken / kHop - 2;
  EXPECT_GT(pitch[last], 1.2F * pitch[10]);
}
