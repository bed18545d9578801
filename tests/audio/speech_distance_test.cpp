#include "audio/voice/speech_distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

using namespace tutti;

namespace {

constexpr int kMels = 40;

/// Frames with ln mel = level + c cos(m w), and a pitch each.
struct Speech {
  void add(double level, double c, int m, float hertz) {
    for (int bin = 0; bin < kMels; ++bin)
      mel.push_back(static_cast<float>(level + c * std::cos(std::numbers::pi * m * (bin + 0.5) / kMels)));
    pitch.push_back(hertz);
  }
  SpeechFrames frames() const { return {.mel = mel, .pitch = pitch, .n_mels = kMels}; }

  std::vector<float> mel{};
  std::vector<float> pitch{};
};

}  // namespace

TEST(SpeechDistance, OfSlowerAndLouderSpeechIsNone) {
  Speech one, slow;
  for (int frame = 0; frame < 6; ++frame) {
    one.add(0, frame * 0.3, 1 + frame, 100);
    for (int again = 0; again < 3; ++again) slow.add(2, frame * 0.3, 1 + frame, 100);
  }
  const auto distance = speech_distance(one.frames(), slow.frames());
  EXPECT_NEAR(distance.cepstral, 0, 1e-4);
  EXPECT_NEAR(distance.pitch_cents, 0, 1e-4);
  EXPECT_EQ(distance.voicing_share, 0);
}

TEST(SpeechDistance, OfOneCoefficientIsThatOfTheFormula) {
  Speech one, other;
  for (int frame = 0; frame < 4; ++frame) {
    one.add(0, 0.5, 3, 100);
    other.add(0, 0.8, 3, frame == 0 ? 200 : 110);
  }
  const auto distance = speech_distance(one.frames(), other.frames());
  EXPECT_NEAR(distance.cepstral, 10 / std::log(10.0) * std::sqrt(2.0) * 0.3, 1e-5);
  EXPECT_NEAR(distance.pitch_cents, 1200 * std::log2(1.1), 1e-3);
  EXPECT_NEAR(distance.gross_share, 0.25, 1e-9);
}

TEST(SpeechDistance, FramesThatAreVoicedInOneAloneAreCounted) {
  Speech one, other;
  for (int frame = 0; frame < 4; ++frame) {
    one.add(0, frame, 2, frame == 1 ? 0 : 150);
    other.add(0, frame, 2, 150);
  }
  EXPECT_NEAR(speech_distance(one.frames(), other.frames()).voicing_share, 0.25, 1e-9);
}

TEST(SpeechDistance, WithoutFramesIsRefused) {
  Speech one;
  one.add(0, 1, 1, 100);
  EXPECT_THROW(speech_distance(one.frames(), Speech().frames()), std::invalid_argument);
}
