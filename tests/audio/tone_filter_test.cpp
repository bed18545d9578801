#include "audio/tone_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace tutti {
namespace {

constexpr int kRate = 16000;

struct Keyed {
  double hertz = 700;
  double amplitude = 0.3;
  double noise = 0;    // deviation
  double drift = 0;    // Hz a second
  double seconds = 8;  // keyed 100 ms, up 100 ms, from 0.5 s on
};

bool is_down(double second) {
  return second >= 0.5 && std::fmod(second, 0.2) < 0.1;
}

std::vector<std::int16_t> audio_of(const Keyed& keyed) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 1);
  std::vector<std::int16_t> pcm;
  double turns = 0;
  for (int i = 0; i < static_cast<int>(keyed.seconds * kRate); ++i) {
    const double second = static_cast<double>(i) / kRate;
    turns += (keyed.hertz + keyed.drift * (second - keyed.seconds / 2)) / kRate;
    const double tone = is_down(second) ? keyed.amplitude * std::sin(2 * std::numbers::pi * turns) : 0;
    pcm.push_back(static_cast<std::int16_t>(std::clamp(tone + keyed.noise * noise(random), -1.0, 1.0) * 32767));
  }
  return pcm;
}

/// Amplitude of what is at some frequency within [from, to) seconds.
double amplitude_at(const std::vector<std::int16_t>& pcm, double hertz, double from, double to) {
  double re = 0, im = 0;
  const int first = static_cast<int>(from * kRate), last = static_cast<int>(to * kRate);
  for (int i = first; i < last; ++i) {
    const double angle = 2 * std::numbers::pi * hertz * i / kRate;
    re += pcm[static_cast<std::size_t>(i)] / 32767.0 * std::cos(angle);
    im += pcm[static_cast<std::size_t>(i)] / 32767.0 * std::sin(angle);
  }
  return 2 * std::hypot(re, im) / (last - first);
}

/// Where its key is down, and where it is up, from 2 to 6 s: the means of 50 ms in the middle of each.
struct Contrast {
  double down = 0, up = 0;
  double spread = 0;  // of both, about their means
  double apart() const { return (down - up) / spread; }
};

Contrast contrast_at(const std::vector<std::int16_t>& pcm, double hertz) {
  Contrast contrast;
  double squares = 0;
  for (int period = 10; period < 30; ++period) {
    const double start = period * 0.2;
    const double down = amplitude_at(pcm, hertz, start + 0.025, start + 0.075);
    const double up = amplitude_at(pcm, hertz, start + 0.125, start + 0.175);
    contrast.down += down / 20;
    contrast.up += up / 20;
    squares += (down * down + up * up) / 20;
  }
  contrast.spread = std::sqrt(squares - contrast.down * contrast.down - contrast.up * contrast.up);
  return contrast;
}

TEST(ToneFilter, PutsAnyToneAtOnePitchAndLevel) {
  for (const double hertz : {312.0, 700.0, 1203.0})
    for (const double amplitude : {0.01, 0.6}) {
      const auto contrast = contrast_at(keyed_tone(audio_of({.hertz = hertz, .amplitude = amplitude})), 600);
      EXPECT_NEAR(contrast.down, 0.2, 0.01) << hertz << " Hz, " << amplitude;
      EXPECT_LT(contrast.up, 0.01) << hertz << " Hz, " << amplitude;
    }
}

TEST(ToneFilter, KeepsMoments) {
  const auto pcm = audio_of({});
  const auto tone = keyed_tone(pcm);
  ASSERT_EQ(tone.size(), pcm.size());
  // Half up is where the key goes down, and half down where it goes up.
  EXPECT_NEAR(amplitude_at(tone, 600, 2.0 - 0.005, 2.0 + 0.005), 0.1, 0.03);
  EXPECT_NEAR(amplitude_at(tone, 600, 2.1 - 0.005, 2.1 + 0.005), 0.1, 0.03);
}

TEST(ToneFilter, FindsAToneInLouderNoise) {
  // The noise in 500 Hz has twice the tone's power.
  const auto pcm = audio_of({.amplitude = 0.1, .noise = std::sqrt(0.1 * 0.1 / 2 * 2 * 16)});
  const auto narrow = contrast_at(keyed_tone(pcm), 1000);
  EXPECT_GT(narrow.down, 2 * narrow.up);
}

TEST(ToneFilter, LeavesNoiseOutThatIsNotInPhase) {
  const auto tone = keyed_tone(audio_of({.amplitude = 0.1, .noise = std::sqrt(0.1 * 0.1 / 2 * 2 * 16)}));
  EXPECT_GT(contrast_at(tone, 1600).apart(), 1.1 * contrast_at(tone, 1000).apart());
  EXPECT_GT(contrast_at(tone, 2900).apart(), 1.1 * contrast_at(tone, 1300).apart());
}

TEST(ToneFilter, FollowsThePhaseOfWhatDrifts) {
  const auto contrast = contrast_at(keyed_tone(audio_of({.drift = 5})), 1600);
  EXPECT_GT(contrast.down, 0.036);  // of 0.04
  EXPECT_LT(contrast.up, 0.01);
}

TEST(ToneFilter, FollowsWhatDrifts) {
  const auto contrast = contrast_at(keyed_tone(audio_of({.drift = 12})), 1300);  // 96 Hz in all
  EXPECT_GT(contrast.down, 0.045);
}

TEST(ToneFilter, LeavesASofterStationOut) {
  auto pcm = audio_of({.hertz = 700});
  const auto other = audio_of({.hertz = 820, .amplitude = 0.15});
  // The other station is down where the tone is up.
  for (std::size_t i = kRate / 10; i < pcm.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(pcm[i] + other[i - kRate / 10]);
  const auto contrast = contrast_at(keyed_tone(pcm), 1000);
  EXPECT_NEAR(contrast.down, 0.06, 0.01);
  EXPECT_LT(contrast.up, 0.005);
}

TEST(ToneFilter, MakesSilenceOfWhatHoldsNothing) {
  EXPECT_TRUE(keyed_tone({}).empty());
  const std::vector<std::int16_t> shorter(799, 1000), silence(kRate, 0);
  EXPECT_EQ(keyed_tone(shorter), std::vector<std::int16_t>(799));
  EXPECT_EQ(keyed_tone(silence), silence);
}

TEST(ToneFilter, IsTheSameEveryTime) {
  const auto pcm = audio_of({.amplitude = 0.05, .noise = 0.1});
  EXPECT_EQ(keyed_tone(pcm), keyed_tone(pcm));
}

}  // namespace
}  // namespace tutti
