#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/augment/effects.h"
#include "audio/mel/frame_fourier.h"
#include "base/random/counter_random.h"

using namespace tutti;

namespace {

/// Noise with a resonance, whose first half is the louder one.
std::vector<float> ringing_noise(std::size_t count) {
  CounterRandom random({5, 7});
  std::vector<float> audio(count);
  for (std::size_t i = 2; i < count; ++i)
    audio[i] = 1.6F * audio[i - 1] - 0.9F * audio[i - 2] + static_cast<float>(random.normal());
  for (std::size_t i = 0; i < count / 2; ++i) audio[i] *= 3;
  return audio;
}

std::vector<float> magnitudes(std::span<const float> block) {
  const FrameFourier fourier(static_cast<int>(block.size()));
  constexpr std::size_t kFrames = FrameFourier::kFrames;
  const auto bins = static_cast<std::size_t>(fourier.bins());
  std::vector<float> samples(block.size() * kFrames, 0.0F), re(bins * kFrames), im(bins * kFrames);
  for (std::size_t i = 0; i < block.size(); ++i) samples[i * kFrames] = block[i];
  fourier.forward(samples.data(), re.data(), im.data());
  std::vector<float> all;
  for (std::size_t bin = 0; bin < bins; ++bin) all.push_back(std::hypot(re[bin * kFrames], im[bin * kFrames]));
  return all;
}

double correlation(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

double energy(std::span<const float> audio) {
  double sum = 0;
  for (const float value : audio) sum += static_cast<double>(value) * value;
  return sum;
}

}  // namespace

TEST(Surrogate, HasTheValuesAndSpectrumInAnotherOrder) {
  const auto audio = ringing_noise(4096);
  const auto surrogate = iaaft_surrogate(audio, 1);
  ASSERT_EQ(surrogate.size(), audio.size());
  EXPECT_LT(std::abs(correlation(audio, surrogate)), 0.2);
  for (std::size_t start = 0; start < audio.size(); start += 1024) {
    std::vector<float> was(audio.begin() + static_cast<std::ptrdiff_t>(start),
                           audio.begin() + static_cast<std::ptrdiff_t>(start + 1024));
    std::vector<float> is(surrogate.begin() + static_cast<std::ptrdiff_t>(start),
                          surrogate.begin() + static_cast<std::ptrdiff_t>(start + 1024));
    EXPECT_GT(correlation(magnitudes(was), magnitudes(is)), 0.99) << start;
    std::ranges::sort(was);
    std::ranges::sort(is);
    EXPECT_EQ(was, is) << start;
  }
}

TEST(Surrogate, CourseOfLoudnessStaysAndTheEndIsCovered) {
  const auto audio = ringing_noise(5000);  // 1024 samples a block; the last 904 are less than one
  const auto surrogate = iaaft_surrogate(audio, 2);
  const std::span was(audio), is(surrogate);
  EXPECT_GT(energy(is.first(2500)), 5 * energy(is.last(2500)));
  EXPECT_LT(std::abs(correlation(was.last(904), is.last(904))), 0.3);
  EXPECT_NEAR(energy(is.last(904)) / energy(was.last(904)), 1, 0.5);
}

TEST(Surrogate, KeyDecidesAlone) {
  const auto audio = ringing_noise(1024);
  EXPECT_EQ(iaaft_surrogate(audio, 3), iaaft_surrogate(audio, 3));
  EXPECT_NE(iaaft_surrogate(audio, 3), iaaft_surrogate(audio, 4));
}

TEST(Surrogate, ShortAudioStaysAsItIs) {
  const std::vector<float> few{1, 2, 3};
  EXPECT_EQ(iaaft_surrogate(few, 1), few);
}
