#include "audio/voice/voice_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/voice/level.h"
#include "audio/voice/pitch.h"
#include "base/random/counter_random.h"

using namespace tutti;

namespace {

/// `seconds` of a tone with four overtones, each half as loud as the one before.
std::vector<float> voice_like(double hertz, Hertz rate, double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * rate.value));
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (int overtone = 1; overtone <= 5; ++overtone)
      samples[i] += static_cast<float>(
          0.2 * std::pow(0.5, overtone - 1) *
          std::sin(2 * std::numbers::pi * hertz * overtone * static_cast<double>(i) / rate.value + overtone));
  return samples;
}

double cents(double found, double expected) {
  return 1200 * std::log2(found / expected);
}

}  // namespace

TEST(VoiceMel, AudioHasAFrameForEveryWholeHop) {
  const VoiceMel mel(usual_voice_mel(Hertz{22050}));
  EXPECT_EQ(mel.frames(255), 0);
  EXPECT_EQ(mel.frames(22050), 86);
  EXPECT_EQ(mel.compute(std::vector<float>(22050, 0.1F)).size(), 86U * 80U);
  EXPECT_EQ(mel.compute(std::vector<float>(300, 0.1F)).size(), 80U);  // shorter than what is mirrored
}

TEST(VoiceMel, SilenceIsTheLogarithmOfTheLeastValue) {
  const VoiceMel mel(usual_voice_mel(Hertz{16000}));
  for (const float value : mel.compute(std::vector<float>(4000, 0.0F))) EXPECT_FLOAT_EQ(value, std::log(1e-5F));
}

TEST(VoiceMel, ToneIsLoudestInTheBinOfItsFrequency) {
  const auto options = usual_voice_mel(Hertz{22050});
  const VoiceMel mel(options);
  const auto filters = voice_mel_filters(options);
  for (const double hertz : {300.0, 1000.0, 3000.0, 9000.0}) {
    std::vector<float> tone(8192);
    for (std::size_t i = 0; i < tone.size(); ++i)
      tone[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / 22050));
    const auto values = mel.compute(tone);
    const auto middle = values.begin() + 16 * 80;
    const auto loudest = static_cast<std::size_t>(std::max_element(middle, middle + 80) - middle);
    const double first = filters[loudest].first_bin * 22050.0 / 1024;
    const double last = first + static_cast<double>(filters[loudest].weights.size()) * 22050.0 / 1024;
    EXPECT_GE(hertz, first - 22) << hertz;
    EXPECT_LE(hertz, last) << hertz;
  }
}

// The sum over a filter of a spectrum computed term by term, which shares nothing with the fast transform.
TEST(VoiceMel, ValueEqualsTheSlowTransform) {
  const auto options = usual_voice_mel(Hertz{16000});
  CounterRandom random(5);
  std::vector<float> samples(4000);
  for (float& value : samples) value = static_cast<float>(0.1 * random.normal());
  const VoiceMel mel(options);
  const auto values = mel.compute(samples);
  const auto window = voice_window(options);
  const auto filters = voice_mel_filters(options);
  const std::size_t frame = 9, first = frame * 200 - (1024 - 200) / 2;
  for (const std::size_t bin : {0UL, 20UL, 79UL}) {
    double sum = 0;
    for (std::size_t w = 0; w < filters[bin].weights.size(); ++w) {
      const double k = filters[bin].first_bin + static_cast<double>(w);
      double real = 0, imaginary = 0;
      for (std::size_t i = 0; i < 1024; ++i) {
        const double turn = 2 * std::numbers::pi * k * static_cast<double>(i) / 1024;
        real += window[i] * samples[first + i] * std::cos(turn);
        imaginary -= window[i] * samples[first + i] * std::sin(turn);
      }
      sum += filters[bin].weights[w] * std::sqrt(real * real + imaginary * imaginary + 1e-9);
    }
    EXPECT_NEAR(values[frame * 80 + bin], std::log(sum), 1e-4) << bin;
  }
}

TEST(VoiceMel, FiltersAreNormalisedByTheirArea) {
  const auto options = usual_voice_mel(Hertz{22050});
  for (const auto& filter : voice_mel_filters(options)) {
    double area = 0;
    for (const float weight : filter.weights) area += weight * 22050.0 / 1024;
    EXPECT_NEAR(area, 1, 0.35);  // a narrow one holds few bins
  }
}

TEST(VoiceMel, OptionThatCannotBeIntendedIsNamed) {
  auto options = usual_voice_mel(Hertz{22050});
  options.hop = 900;
  const auto refused = check(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "the hop: expected 1 to half the window, 512 samples, found 900");
  EXPECT_THROW(VoiceMel{options}, std::invalid_argument);
}

TEST(VoicePitch, TonesAreWithinFiveCents) {
  for (const int rate : {16000, 22050, 48000})
    for (double hertz = 70; hertz < 500; hertz *= 1.17) {
      const auto pitch = pitch_of(voice_like(hertz, Hertz{rate}, 0.5), {.rate = Hertz{rate}, .hop = rate / 80});
      ASSERT_EQ(pitch.size(), 40U);
      for (std::size_t frame = 4; frame + 4 < pitch.size(); ++frame)
        EXPECT_LT(std::abs(cents(pitch[frame], hertz)), 5) << hertz << " Hz at " << rate << ", frame " << frame;
    }
}

TEST(VoicePitch, NoiseAndSilenceHaveNone) {
  CounterRandom random(3);
  std::vector<float> samples(16000);
  for (float& value : samples) value = static_cast<float>(0.1 * random.normal());
  const PitchOptions options{.rate = Hertz{16000}, .hop = 200};
  const auto of_noise = pitch_of(samples, options);
  EXPECT_LT(std::ranges::count_if(of_noise, [](float pitch) { return pitch > 0; }), 3);
  const auto of_silence = pitch_of(std::vector<float>(16000), options);
  EXPECT_EQ(std::ranges::count(of_silence, 0.0F), 80);
}

TEST(VoiceLevel, SilenceAtBothEndsIsFound) {
  auto samples = voice_like(200, Hertz{16000}, 0.5);
  samples.insert(samples.begin(), 4000, 1e-4F);
  samples.insert(samples.end(), 6000, 1e-4F);
  const auto range = sounding_range(samples, Hertz{16000}, 35);
  EXPECT_NEAR(static_cast<double>(range.start), 4000, 320);
  EXPECT_NEAR(static_cast<double>(range.end), 12000, 320);
}

TEST(VoiceLevel, LoudClipStaysBelowFullScale) {
  std::vector<float> samples(1000, 0.001F);
  samples[500] = 0.5F;  // a click: its peak would be 0.9 / 0.016 times as high
  bring_to_level(samples, 0.9);
  EXPECT_LT(*std::ranges::max_element(samples), 1.0F);
  auto tone = voice_like(200, Hertz{16000}, 0.5);
  bring_to_level(tone, 0.08);
  EXPECT_NEAR(level_of(tone), 0.08, 1e-4);
}

TEST(VoiceLevel, BackgroundNoiseFollowsItsKey) {
  std::vector<float> once(2000), again(2000), other(2000);
  add_background_noise(once, 5e-4, 1);
  add_background_noise(again, 5e-4, 1);
  add_background_noise(other, 5e-4, 2);
  EXPECT_EQ(once, again);
  EXPECT_NE(once, other);
  EXPECT_NEAR(level_of(once), 5e-4, 5e-5);
}
