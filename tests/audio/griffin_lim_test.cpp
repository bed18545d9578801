#include "audio/vocoder/griffin_lim.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "audio/mel/frame_fourier.h"
#include "audio/voice/voice_mel.h"
#include "base/random/counter_random.h"

using namespace tutti;

namespace {

std::vector<float> noise(std::size_t count) {
  CounterRandom random(5);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// A voice-like sound: harmonics of a gliding pitch, louder and softer by turns.
std::vector<float> hum(int rate, double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(rate * seconds));
  double phase = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / rate;
    phase += 2 * std::numbers::pi * (120 + 40 * std::sin(3 * t)) / rate;
    double value = 0;
    for (int k = 1; k <= 20; ++k) value += std::sin(k * phase) / k;
    samples[i] = static_cast<float>(0.1 * value * (0.6 + 0.4 * std::sin(9 * t)));
  }
  return samples;
}

}  // namespace

TEST(FrameFourier, ForwardIsTheTransformOfEveryColumn) {
  constexpr int kSize = 16;
  const FrameFourier fourier(kSize);
  const auto samples = noise(kSize * FrameFourier::kFrames);
  std::vector<float> re(static_cast<std::size_t>(fourier.bins() * FrameFourier::kFrames)), im(re.size());
  fourier.forward(samples.data(), re.data(), im.data());
  for (std::size_t frame = 0; frame < FrameFourier::kFrames; ++frame)
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(fourier.bins()); ++bin) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < kSize; ++i)
        sum += static_cast<double>(samples[i * FrameFourier::kFrames + frame]) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(bin * i) / kSize);
      EXPECT_NEAR(re[bin * FrameFourier::kFrames + frame], sum.real(), 1e-5);
      EXPECT_NEAR(im[bin * FrameFourier::kFrames + frame], sum.imag(), 1e-5);
    }
}

TEST(FrameFourier, InverseUndoesForward) {
  for (const int size : {4, 8, 64, 1024}) {
    const FrameFourier fourier(size);
    const auto samples = noise(static_cast<std::size_t>(size) * FrameFourier::kFrames);
    std::vector<float> re(static_cast<std::size_t>(fourier.bins() * FrameFourier::kFrames)), im(re.size()),
        back(samples.size());
    fourier.forward(samples.data(), re.data(), im.data());
    fourier.inverse(re.data(), im.data(), back.data());
    for (std::size_t i = 0; i < samples.size(); ++i) ASSERT_NEAR(back[i], samples[i], 1e-4) << size << ' ' << i;
  }
  EXPECT_THROW(FrameFourier(12), std::invalid_argument);
}

TEST(GriffinLim, MagnitudesHaveTheMelsThatAreWanted) {
  const VoiceMelOptions mel{};
  const auto filters = voice_mel_filters(mel);
  const GriffinLim vocoder(mel);
  const auto audio = hum(mel.rate.value, 0.5);
  const auto wanted = VoiceMel(mel).compute(audio);
  std::vector<float> magnitudes(513);
  const std::size_t frame = 20;
  vocoder.magnitudes_of(std::span(wanted).subspan(frame * 80, 80), magnitudes);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < filters[i].weights.size(); ++k)
      sum += filters[i].weights[k] * magnitudes[static_cast<std::size_t>(filters[i].first_bin) + k];
    EXPECT_NEAR(std::log(sum), wanted[frame * 80 + i], 0.05) << i;
  }
}

TEST(GriffinLim, AudioHasTheSpectrogramThatItIsMadeOf) {
  for (const auto& mel : {VoiceMelOptions{}, VoiceMelOptions{.rate = {16000}, .window = 800, .hop = 200}}) {
    const VoiceMel spectrogram(mel);
    const auto wanted = spectrogram.compute(hum(mel.rate.value, 1));
    const auto frames = std::ssize(wanted) / mel.n_mels;
    const GriffinLim vocoder(mel);
    const auto audio = vocoder.audio_of(wanted, frames);
    ASSERT_EQ(std::ssize(audio), frames * mel.hop);
    const auto found = spectrogram.compute(audio);
    double error = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) error += std::abs(found[i] - wanted[i]);
    EXPECT_LT(error / static_cast<double>(wanted.size()), 0.35) << mel.rate.value << " Hz";
  }
}

TEST(GriffinLim, NoFramesAreNoAudio) {
  EXPECT_TRUE(GriffinLim({}).audio_of({}, 0).empty());
}
