#include "audio/vocoder/pulses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

using namespace tutti;

namespace {

constexpr Hertz kRate{16000};
constexpr int kHop = 200;

double mean_square(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return sum / static_cast<double>(samples.size());
}

}  // namespace

TEST(Pulses, HaveThePitchOfTheirFramesAtMeanSquareOne) {
  const std::vector<float> pitch(40, 200.0F);
  const auto pulses = pulses_of(pitch, {.rate = kRate, .hop = kHop, .phase = 0.3});
  ASSERT_EQ(pulses.size(), pitch.size() * kHop);
  EXPECT_NEAR(mean_square(pulses), 1, 0.05);
  constexpr std::size_t kPeriod = 80;
  double off = 0, off_by_half = 0;
  for (std::size_t i = kPeriod; i < pulses.size(); ++i) {
    off += std::abs(pulses[i] - pulses[i - kPeriod]);
    off_by_half += std::abs(pulses[i] - pulses[i - kPeriod / 2]);
  }
  EXPECT_LT(off, 1e-3 * off_by_half);
}

TEST(Pulses, GlideBetweenFrames) {
  std::vector<float> pitch(80);  // a second, in which it doubles: 150 periods
  for (std::size_t i = 0; i < pitch.size(); ++i) pitch[i] = 100 + 100 * static_cast<float>(i) / 79;
  const auto pulses = pulses_of(pitch, {.rate = kRate, .hop = kHop});
  std::ptrdiff_t peaks = 0;
  for (std::size_t i = 1; i + 1 < pulses.size(); ++i)
    peaks += pulses[i] > 3 && pulses[i] >= pulses[i - 1] && pulses[i] > pulses[i + 1];
  EXPECT_NEAR(static_cast<double>(peaks), 150, 2);
}

TEST(Pulses, FadeOverAHopWhereThePitchEnds) {
  std::vector<float> pitch(30, 0.0F);
  std::fill(pitch.begin() + 10, pitch.begin() + 20, 200.0F);
  const auto pulses = pulses_of(pitch, {.rate = kRate, .hop = kHop});
  const std::span all(pulses);
  EXPECT_EQ(mean_square(all.first(9 * kHop + kHop / 2)), 0);
  EXPECT_EQ(mean_square(all.subspan(20 * kHop + kHop / 2)), 0);
  EXPECT_NEAR(mean_square(all.subspan(11 * kHop, 8 * kHop)), 1, 0.05);
  EXPECT_EQ(mean_square(pulses_of(std::vector<float>(30, 0.0F), {.rate = kRate, .hop = kHop})), 0);
}
