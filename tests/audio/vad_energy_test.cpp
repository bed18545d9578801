#include <gtest/gtest.h>

#include "audio/vad/energy.h"
#include "audio/vad/speech.h"
#include "samples.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

/// Noise 12 dB over silence, with louder noise from 2 s to 3 s.
std::vector<std::int16_t> burst() {
  auto pcm = noise(16000 * 6);
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(i / 16000 == 2 ? pcm[i] / 16 : pcm[i] / 256);
  return pcm;
}

constexpr VadOptions kEnergy{.method = VadMethod::energy, .min_silence_duration_ms = 160, .speech_pad_ms = 0};

}  // namespace

TEST(EnergyVad, LoudnessIsInDecibelsAndKnowsNoOffset) {
  EXPECT_EQ(loudness(std::vector<std::int16_t>(512, 1234)), 0);
  std::vector<std::int16_t> square(512, 3277);
  for (std::size_t i = 0; i < square.size(); i += 2) square[i] = -3277;
  EXPECT_NEAR(loudness(square), 70.3, 0.05);
}

TEST(EnergyVad, FindsAudioLouderThanItsBackground) {
  const auto pieces = find_speech(recording_of(burst()), kEnergy).value();
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_NEAR(static_cast<double>(pieces[0].start), 32000, kVadWindow);
  EXPECT_NEAR(static_cast<double>(pieces[0].end), 48000, kVadWindow);
}

TEST(EnergyVad, FindsNoSpeechInSilenceOrEvenNoise) {
  EXPECT_TRUE(find_speech(recording_of(std::vector<std::int16_t>(160'000)), kEnergy).value().empty());
  EXPECT_TRUE(find_speech(recording_of(noise(160'000)), kEnergy).value().empty());
  EXPECT_TRUE(find_speech(recording_of({}), kEnergy).value().empty());
}

TEST(EnergyVad, PaddingOfLastWindowDoesNotLowerBackgroundLevel) {
  for (const std::size_t beyond : {0, 1, 7, 511}) {
    const auto pieces = find_speech(recording_of(noise(900 * kVadWindow + beyond)), kEnergy).value();
    EXPECT_TRUE(pieces.empty()) << beyond << " samples in the last window: speech from " << pieces.front().start;
  }
}

TEST(FindSpeech, StopsWhenTheCallerHasHadEnough) {
  const auto stopped = speech_probabilities(recording_of(noise(16000 * 60)), VadOptions{},
                                            [](Seconds found) { return found < Seconds(20); });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().fault, Fault::cancelled);
}
