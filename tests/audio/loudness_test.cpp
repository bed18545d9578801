#include "audio/voice/loudness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

using namespace tutti;

namespace {

/// A sine at so many decibels below full scale (of its peak).
std::vector<float> sine(double hertz, double decibels, double seconds, Hertz rate) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * rate.value));
  const double peak = std::pow(10, decibels / 20);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] =
        static_cast<float>(peak * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate.value));
  return samples;
}

std::vector<float> joined_parts(std::vector<std::vector<float>> parts) {
  std::vector<float> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

// ITU-R BS.1770-4: "if a 0 dB FS, 997 Hz sine wave is applied to the left, center, or right channel input, the
// indicated loudness will equal -3.01 LKFS".
TEST(Loudness, SineOfTheStandardHasItsValueAtAnyRate) {
  for (const int rate : {8000, 16000, 22050, 44100, 48000}) {
    const auto loudness = integrated_loudness(sine(997, 0, 5, Hertz{rate}), Hertz{rate});
    ASSERT_TRUE(loudness);
    EXPECT_NEAR(*loudness, -3.01, 0.05) << rate;
  }
}

// The cases of EBU Tech 3341, of one channel of the two: 3.01 LU below what they state for both.
TEST(Loudness, SoftPartsAreGatedAsTheCasesOfEbuTech3341Say) {
  const Hertz rate{48000};
  const auto of = [&](std::vector<std::vector<float>> parts) {
    return *integrated_loudness(joined_parts(std::move(parts)), rate);
  };
  const auto tone = [&](double decibels, double seconds) { return sine(1000, decibels, seconds, rate); };
  EXPECT_NEAR(of({tone(-23, 20)}), -26.01, 0.1);                                                              // case 1
  EXPECT_NEAR(of({tone(-33, 20)}), -36.01, 0.1);                                                              // case 2
  EXPECT_NEAR(of({tone(-36, 10), tone(-23, 60), tone(-36, 10)}), -26.01, 0.1);                                // case 3
  EXPECT_NEAR(of({tone(-72, 10), tone(-36, 10), tone(-23, 60), tone(-36, 10), tone(-72, 10)}), -26.01, 0.1);  // case 4
  EXPECT_NEAR(of({tone(-26, 20), tone(-20, 20.1), tone(-26, 20)}), -26.01, 0.1);                              // case 5
}

TEST(Loudness, LowAndHighTonesAreWeighted) {
  const Hertz rate{48000};
  const auto of = [&](double hertz) { return *integrated_loudness(sine(hertz, -20, 5, rate), rate); };
  EXPECT_NEAR(of(100) - of(997), -1.8, 0.3);
  EXPECT_NEAR(of(10000) - of(997), 3.3, 0.3);
}

TEST(Loudness, ShortAudioIsOneBlockAndSilenceHasNone) {
  const Hertz rate{16000};
  EXPECT_NEAR(*integrated_loudness(sine(997, -20, 0.2, rate), rate), -23.01, 0.3);
  EXPECT_FALSE(integrated_loudness(std::vector<float>(16000), rate));
  EXPECT_FALSE(integrated_loudness(sine(997, -80, 1, rate), rate));
  EXPECT_FALSE(integrated_loudness({}, rate));
}

TEST(SentenceLevel, SentencesComeToTheLoudnessWithinTheBound) {
  const Hertz rate{16000};
  SentenceLevel level(-23, rate);
  const auto after = [&](double decibels, double seconds) {
    auto samples = sine(997, decibels, seconds, rate);
    level.apply(samples);
    return *integrated_loudness(samples, rate);
  };
  EXPECT_NEAR(after(-10, 3), -23, 0.01);  // the gain is -10 dB
  EXPECT_NEAR(after(-12, 3), -23, 0.01);
  EXPECT_NEAR(after(-30, 1), -33.01 - 9 + 3, 0.05) << "at most 3 dB more than the mean, -9 dB, of those before";
}

TEST(SentenceLevel, SentenceBehindASoftOneIsNotTooLoud) {
  const Hertz rate{16000};
  SentenceLevel level(-23, rate);
  auto soft = sine(997, -50, 0.5, rate), usual = sine(997, -20, 3, rate);
  level.apply(soft);
  level.apply(usual);
  EXPECT_NEAR(*integrated_loudness(soft, rate), -23, 0.01);
  EXPECT_NEAR(*integrated_loudness(usual, rate), -22.5, 0.01);
}

TEST(SentenceLevel, PeaksStayBelowFullScaleAndSilenceStays) {
  const Hertz rate{16000};
  std::vector<float> click(16000);
  for (std::size_t i = 0; i < click.size(); i += 1600) click[i] = 0.5F;
  SentenceLevel(-23, rate).apply(click);
  EXPECT_NEAR(*std::ranges::max_element(click), 0.99F, 1e-4F);
  std::vector<float> silence(16000);
  SentenceLevel(-23, rate).apply(silence);
  EXPECT_EQ(silence, std::vector<float>(16000));
}
