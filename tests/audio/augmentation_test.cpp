#include "audio/augment/augmentation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "audio/augment/effects.h"

namespace tutti {
namespace {

std::vector<float> tone(double hertz, std::size_t samples, double amplitude = 8000) {
  std::vector<float> audio;
  for (std::size_t i = 0; i < samples; ++i)
    audio.push_back(
        static_cast<float>(amplitude * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / 16000)));
  return audio;
}

double power(std::span<const float> audio) {
  double sum = 0;
  for (const float sample : audio) sum += double{sample} * sample;
  return sum / static_cast<double>(audio.size());
}

TEST(Effects, SpeedUpShortensAndRaisesToneByTheRate) {
  for (const double speed : {0.9, 1.1}) {
    const auto made = at_speed(tone(1000, 16000), speed);
    EXPECT_EQ(made.size(), static_cast<std::size_t>(16000 / speed));
    const auto expected = tone(1000 * speed, made.size());
    for (std::size_t i = 100; i + 100 < made.size(); ++i) ASSERT_NEAR(made[i], expected[i], 80) << speed << " at " << i;
  }
}

TEST(Effects, LowerRateDropsFrequenciesAboveItsNyquist) {
  const auto made = at_speed(tone(7900, 16000), 1.25);
  EXPECT_LT(power(std::span(made).subspan(200, 10000)), power(tone(7900, 16000)) / 100);
}

TEST(Effects, NoiseHasTheRequestedSignalToNoiseRatio) {
  for (const bool is_pink : {false, true}) {
    const auto clean = tone(440, 32000);
    auto audio = clean;
    add_noise_at(audio, 10, is_pink, 5);
    for (std::size_t i = 0; i < audio.size(); ++i) audio[i] -= clean[i];
    EXPECT_NEAR(10 * std::log10(power(clean) / power(audio)), 10, 0.01);
  }
}

TEST(Effects, GainStopsBelowClipping) {
  auto audio = tone(440, 1000, 30000);
  change_gain(audio, 12);
  EXPECT_LE(*std::max_element(audio.begin(), audio.end()), 32767.5F);
  auto quiet = tone(440, 1000, 1000);
  change_gain(quiet, -20);
  EXPECT_NEAR(*std::max_element(quiet.begin(), quiet.end()), 100, 1);
}

TEST(Effects, ReverbAddsEchoesAndKeepsPower) {
  std::vector<float> click(8000);
  click[100] = 10000;
  CounterRandom random(4);
  add_echoes(click, room_echoes(0.2, random));
  EXPECT_NEAR(power(click), 1e8 / 8000, 1);
  EXPECT_EQ(click[99], 0);
  int echoes = 0;
  for (std::size_t i = 101; i < click.size(); ++i) echoes += click[i] != 0;
  EXPECT_GE(echoes, 15);
}

Augmentation everything() {
  Augmentation all;
  all.speed_share = all.gain_share = all.noise_share = all.room_share = 1;
  return all;
}

std::vector<std::int16_t> changed_by(const std::vector<std::int16_t>& pcm, const Augmentation& it, std::uint64_t key) {
  return changed(pcm, audio_changes(it, speed_of(it, key), key));
}

std::vector<std::int16_t> pcm_of(const std::vector<float>& audio) {
  return {audio.begin(), audio.end()};
}

TEST(Augmentation, IsAFunctionOfItsKey) {
  const auto pcm = pcm_of(tone(440, 8000));
  EXPECT_EQ(changed_by(pcm, everything(), 7), changed_by(pcm, everything(), 7));
  EXPECT_NE(changed_by(pcm, everything(), 7), changed_by(pcm, everything(), 8));
  EXPECT_EQ(changed_by(pcm, {}, 7), pcm) << "nothing is asked for";
}

TEST(Augmentation, LengthFollowsThePredictedSpeed) {
  const auto pcm = pcm_of(tone(440, 8000));
  std::set<double> speeds;
  for (std::uint64_t key = 0; key < 20; ++key) {
    const double speed = speed_of(everything(), key);
    speeds.insert(speed);
    EXPECT_GE(speed, 0.9);
    EXPECT_LE(speed, 1.1);
    EXPECT_EQ(changed_by(pcm, everything(), key).size(), static_cast<std::size_t>(8000 / speed));
  }
  EXPECT_EQ(speeds.size(), 20U);
  EXPECT_EQ(speed_of({}, 3), 1);
}

TEST(Augmentation, AShareIsHowManySamplesAreChanged) {
  Augmentation some;
  some.speed_share = 0.3;
  int changed = 0;
  for (std::uint64_t key = 0; key < 2000; ++key) changed += speed_of(some, key) != 1;
  EXPECT_NEAR(changed, 600, 80);
}

TEST(SpecAugment, MasksRealFramesWithTheMeanAndLeavesPaddingAlone) {
  constexpr std::int64_t kMels = 80, kStride = 300, kFrames = 200;
  std::vector<float> mel(kMels * kStride);
  for (std::size_t i = 0; i < mel.size(); ++i) mel[i] = static_cast<float>(i % 7);
  const auto before = mel;
  const SpecAugment masks{.band_count = 2, .stretch_count = 2};
  mask_spectrum(mel.data(), kMels, kStride, kFrames, spectrum_masks(masks, kMels, kFrames, 11));
  std::set<float> values;
  std::int64_t changed = 0;
  for (std::int64_t bin = 0; bin < kMels; ++bin)
    for (std::int64_t frame = 0; frame < kStride; ++frame) {
      const auto at = static_cast<std::size_t>(bin * kStride + frame);
      if (mel[at] == before[at]) continue;
      EXPECT_LT(frame, kFrames);
      values.insert(mel[at]);
      ++changed;
    }
  EXPECT_EQ(values.size(), 1U);
  EXPECT_NEAR(*values.begin(), 3, 0.1);
  EXPECT_GT(changed, 0);
  EXPECT_LE(changed, 2 * 27 * kFrames + 2 * 40 * kMels) << "a fifth of the frames at most, twice";
}

}  // namespace
}  // namespace tutti
