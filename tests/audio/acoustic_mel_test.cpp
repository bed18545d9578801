#include "audio/mel/acoustic_mel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

#include "audio/mono_audio.h"
#include "base/random/counter_random.h"

using namespace tutti;

namespace {

std::vector<float> noise(std::size_t samples) {
  CounterRandom random(std::uint64_t{7});
  std::vector<float> values(samples);
  for (auto& value : values) value = static_cast<float>(0.1 * random.normal());
  return values;
}

double mel_of(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}

/// torchaudio's MelSpectrogram(center=False, norm=None, mel_scale="htk") by its definition, then 20 log10.
double by_definition(const std::vector<float>& samples, const AcousticMelOptions& o, int mel, int frame) {
  const double top = mel_of(o.rate.value / 2.0);
  const auto edge = [&](int i) {
    if (o.linear) return o.rate.value / 2.0 * i / (o.n_mels + 1);
    return 700 * (std::pow(10, top * i / (o.n_mels + 1) / 2595) - 1);
  };
  double sum = 0;
  for (int bin = 0; bin <= o.n_fft / 2; ++bin) {
    std::complex<double> value = 0;
    for (int i = 0; i < o.n_fft; ++i) {
      const double turn = 2 * std::numbers::pi * i / o.n_fft;
      const double window = 0.5 - 0.5 * std::cos(turn);
      value += window * samples[static_cast<std::size_t>(frame * o.hop + i)] * std::polar(1.0, -turn * bin);
    }
    const double hertz = static_cast<double>(bin) * o.rate.value / o.n_fft;
    const double rising = (hertz - edge(mel)) / (edge(mel + 1) - edge(mel));
    const double falling = (edge(mel + 2) - hertz) / (edge(mel + 2) - edge(mel + 1));
    sum += std::max(0.0, std::min(rising, falling)) * std::abs(value);
  }
  return 20 * std::log10(std::max(sum, 1e-10));
}

}  // namespace

TEST(AcousticMel, EqualsTheDefinition) {
  const auto samples = noise(700);
  for (const bool linear : {false, true}) {
    const AcousticMel mel({.rate = Hertz{4096}, .n_fft = 512, .hop = 128, .n_mels = 64, .linear = linear});
    ASSERT_EQ(mel.frames(700), 2);
    std::vector<float> out(64 * 2);
    mel.compute(samples, samples.size(), out);
    for (int bin = 0; bin < 64; ++bin)
      for (int frame = 0; frame < 2; ++frame)
        EXPECT_NEAR(out[static_cast<std::size_t>(bin * 2 + frame)], by_definition(samples, mel.options(), bin, frame),
                    2e-3)
            << bin << " " << frame;
  }
}

TEST(AcousticMel, OneFrameOfASegmentAsLongAsTheWindow) {
  const AcousticMel mel(AcousticMelOptions{});
  EXPECT_EQ(mel.frames(512), 1);
  EXPECT_EQ(mel.frames(511), 0);
  EXPECT_EQ(mel.frames(640), 2);
}

TEST(AcousticMel, RangeBelowTheLoudestValueIsKept) {
  std::vector<float> samples = noise(1024);
  std::fill(samples.begin() + 512, samples.end(), 0.0F);
  const AcousticMel mel({.rate = Hertz{8000}, .n_fft = 256, .hop = 256, .n_mels = 8, .top_db = 80});
  std::vector<float> out(8 * 4);
  mel.compute(samples, samples.size(), out);
  const float loudest = *std::ranges::max_element(out), least = *std::ranges::min_element(out);
  EXPECT_FLOAT_EQ(loudest - least, 80);
}

TEST(AcousticMel, LengthThatIsNoPowerOfTwoIsRefused) {
  EXPECT_THROW(AcousticMel({.n_fft = 500}), std::invalid_argument);
}

TEST(MonoAudio, ChannelsAreAveraged) {
  const auto audio = mono_mean({.facts = {Hertz{8000}, 2, 2}, .format = 1, .storage = {16384, -16384, 8192, 8192}});
  EXPECT_EQ(audio.samples, (std::vector<float>{0, 0.25F}));
  EXPECT_EQ(audio.rate, Hertz{8000});
}

TEST(MonoAudio, ResampledToneKeepsLengthAndPitch) {
  constexpr double kPitch = 300;
  const auto tone = [](int rate) {
    MonoAudio audio{Hertz{rate}, std::vector<float>(static_cast<std::size_t>(rate))};
    for (std::size_t i = 0; i < audio.samples.size(); ++i)
      audio.samples[i] =
          static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * kPitch * static_cast<double>(i) / rate));
    return audio;
  };
  MonoResampler resampler;
  for (int round = 0; round < 2; ++round) {  // the filter is kept, and begins again
    const auto converted = resampler.convert(tone(44100), Hertz{4096});
    ASSERT_TRUE(converted) << converted.error().text();
    const auto expected = tone(4096);
    ASSERT_EQ(converted->samples.size(), expected.samples.size());
    for (std::size_t i = 200; i + 200 < expected.samples.size(); ++i)
      ASSERT_NEAR(converted->samples[i], expected.samples[i], 5e-3) << i;
  }
}
