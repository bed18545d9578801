#include "audio/mel/log_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/mel/mel_kernel.h"
#include "audio/tone_filter.h"
#include "base/bytes.h"
#include "samples.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

using Pcm = std::vector<std::int16_t>;

/// The samples of a .npy file of float32 that were 16-bit integers once.
Pcm pcm_of_npy(const std::string& name) {
  const std::string bytes = read_file(test_data() / ("mel/" + name)).value();
  constexpr std::size_t kHeader = 128;
  std::vector<float> values((bytes.size() - kHeader) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + kHeader, values.size() * sizeof(float));
  Pcm pcm;
  for (const float value : values) pcm.push_back(static_cast<std::int16_t>(std::lround(value * 32768)));
  return pcm;
}

/// Loud noise, silence, noise 78 dB lower, a click: what tools/golden/mel.py calls cliff.
Pcm cliff() {
  const Pcm loud = noise(5000);
  Pcm pcm = loud;
  pcm.resize(8000);
  for (std::size_t i = 0; i < 4000; ++i) pcm.push_back(static_cast<std::int16_t>(std::floor(loud[i] / 8192.0)));
  pcm.insert(pcm.end(), loud.begin(), loud.begin() + 77);
  return pcm;
}

/// What tools/golden/mel.py wrote; the file's format is described there.
struct Golden {
  std::int32_t bins = 0, frames = 0;
  float low = 0;
  std::vector<std::uint16_t> values{};

  explicit Golden(const std::string& name) {
    const auto path = std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio" / ("mel_" + name + ".bin");
    const auto bytes = read_file(path);
    EXPECT_TRUE(bytes) << path;
    ByteReader in(bytes ? std::string_view(*bytes) : std::string_view());
    in.get(bins);
    in.get(frames);
    in.get(low);
    in.get(values);
    EXPECT_TRUE(in.finished()) << path;
  }
};

/// Largest difference from the reference. The golden step of 3e-5 costs half of itself.
double worst_error(const Golden& golden, const std::vector<float>& mel) {
  double worst = 0;
  for (std::size_t i = 0; i < mel.size(); ++i)
    worst = std::max(worst, std::abs(mel[i] - (golden.low + golden.values[i] * 2.0 / 65535)));
  return worst;
}

void expect_like_the_reference(const Pcm& pcm, const std::string& name) {
  const Recording recording = recording_of(pcm);
  for (const int bins : {80, 128}) {
    const Golden golden(name + "_" + std::to_string(bins));
    const LogMel log_mel(bins);
    const float maximum = log_mel.maximum(recording).value();
    const auto mel = log_mel.window(recording, 0, golden.frames, maximum);
    ASSERT_TRUE(mel) << mel.error().text();
    ASSERT_EQ(mel->size(), golden.values.size());
    EXPECT_EQ(LogMel::content_frames(recording) + 2, golden.frames);
    EXPECT_LT(worst_error(golden, *mel), 1e-4) << name << " with " << bins << " bins";
  }
}

}  // namespace

TEST(LogMel, EqualsTheReferenceOnSpeech) {
  TUTTI_NEEDS("mel/mr_quilter.npy");
  expect_like_the_reference(pcm_of_npy("mr_quilter.npy"), "mr_quilter");
}

TEST(LogMel, EqualsTheReferenceOnElevenSecondsOfSpeech) {
  TUTTI_NEEDS("mel/jfk.npy");
  expect_like_the_reference(pcm_of_npy("jfk.npy"), "jfk");
}

TEST(LogMel, EqualsReferenceWhereLoudNoiseMeetsNearSilence) {
  expect_like_the_reference(cliff(), "cliff");
}

TEST(LogMel, EqualsTheReferenceOnARecordingShorterThanOneFrame) {
  expect_like_the_reference(noise(90), "short");
}

TEST(LogMel, EqualsTheReferenceOnDigitalSilence) {
  expect_like_the_reference(Pcm(1700), "silence");
}

TEST(LogMel, GivesTheThirtyPublishedValues) {
  TUTTI_NEEDS("mel/mr_quilter.npy");
  constexpr float kPublished[] = {0.1193F,  -0.0946F, -0.1098F, -0.0196F, 0.0225F,  -0.0690F, -0.1736F, 0.0951F,
                                  0.0971F,  -0.0817F, -0.0702F, 0.0162F,  0.0260F,  0.0017F,  -0.0192F, -0.1678F,
                                  0.0709F,  -0.1867F, -0.0655F, -0.0274F, -0.0234F, -0.1884F, -0.0516F, -0.0554F,
                                  -0.0274F, -0.1425F, -0.1423F, 0.0837F,  0.0377F,  -0.0854F};
  const Recording recording = recording_of(pcm_of_npy("mr_quilter.npy"));
  const LogMel log_mel(80);
  const auto mel = log_mel.window(recording, 0, 3000, log_mel.maximum(recording).value()).value();
  for (std::size_t i = 0; i < std::size(kPublished); ++i) EXPECT_NEAR(mel[i], kPublished[i], 1e-4) << "frame " << i;
}

TEST(LogMel, AWindowFromTheMiddleIsThatPartOfTheWhole) {
  const Recording recording = recording_of(noise(40000));
  const LogMel log_mel(80);
  const auto whole = log_mel.window(recording, 0, 250, 2.0F).value();
  const auto part = log_mel.window(recording, 101, 33, 2.0F).value();
  ASSERT_EQ(part.size(), 80U * 33);
  for (std::size_t bin = 0; bin < 80; ++bin)
    for (std::size_t frame = 0; frame < 33; ++frame)
      ASSERT_EQ(part[bin * 33 + frame], whole[bin * 250 + 101 + frame]) << "bin " << bin << " frame " << frame;
}

TEST(LogMel, FindsMaximumInAnyWindowOfALongRecording) {
  Pcm pcm(16000 * 70);
  const Pcm loud = noise(3000);
  std::copy(loud.begin(), loud.end(), pcm.begin() + 16000 * 61);
  const LogMel log_mel(80);
  const float expected = log_mel.maximum(recording_of(loud)).value();
  EXPECT_NEAR(log_mel.maximum(recording_of(pcm)).value(), expected, 0.3);
}

TEST(LogMel, AWindowWithoutAMaximumIsClampedByItsOwn) {
  Pcm pcm(16000);
  const Pcm loud = noise(3000);
  pcm.insert(pcm.end(), loud.begin(), loud.end());
  for (const std::int16_t sample : loud) pcm.push_back(static_cast<std::int16_t>(sample / 1000));
  const Recording recording = recording_of(pcm);
  const LogMel log_mel(80);
  const auto all = log_mel.window(recording, 0, 137).value();
  EXPECT_EQ(all, log_mel.window(recording, 0, 137, log_mel.maximum(recording).value()).value());
  const auto quiet = log_mel.window(recording, 125, 12).value();
  const auto [low, high] = std::minmax_element(quiet.begin(), quiet.end());
  EXPECT_LT(*high, *std::max_element(all.begin(), all.end()) - 1);
  EXPECT_GE(*low, *high - 2);
}

TEST(MelKernel, AllGenerationsOfMachinesComputeTheSame) {
  const auto filters = mel_filters(128);
  const Pcm samples = noise(kMelSpan);
  std::vector<float> expected(128 * kMelLanes);
  mel_kernels().back().power(filters, samples.data(), expected.data());
  for (const MelKernel& kernel : mel_kernels()) {
    std::vector<float> powers(expected.size());
    kernel.power(filters, samples.data(), powers.data());
    for (std::size_t i = 0; i < powers.size(); ++i)
      ASSERT_NEAR(powers[i], expected[i], 1e-4F * expected[i]) << kernel.name << " " << i;
  }
}

TEST(MelKernel, LogarithmsAreExactToAMillionthOverTheWholeRange) {
  std::vector<float> powers{0, 1e-20F, 1e-10F, 1, 1e8F};
  for (float power = 1.0e-10F; power < 1e8F; power *= 1.0007F) powers.push_back(power);
  for (const MelKernel& kernel : mel_kernels()) {
    std::vector<float> logs = powers;
    kernel.log10(logs.data(), std::ssize(logs));
    for (std::size_t i = 0; i < powers.size(); ++i)
      ASSERT_NEAR(logs[i], std::log10(std::max(powers[i], 1e-10F)), 1e-6) << kernel.name << " of " << powers[i];
  }
}

TEST(MelFilters, ReachFromBottomToTopWithoutAGap) {
  for (const int bins : {1, 40, 80, 128}) {
    const auto filters = mel_filters(bins);
    ASSERT_EQ(filters.size(), static_cast<std::size_t>(bins));
    EXPECT_EQ(filters.back().first_bin + static_cast<int>(filters.back().weights.size()), kMelBins - 1);
    for (const MelFilter& filter : filters) EXPECT_FALSE(filter.weights.empty()) << bins;
  }
}

TEST(LogMel, OfAKeyedToneIsThatOfEachWindowsOwnTone) {
  Pcm pcm;
  for (int i = 0; i < 48000; ++i)
    pcm.push_back(static_cast<std::int16_t>(i / 1600 % 2 == 0 ? 3000 * std::sin(0.3 * i) : 0));
  const auto whole = recording_of(pcm);
  const LogMel tone(80, true);
  const auto part = keyed_tone(std::span(pcm).subspan(8000, 16000));
  EXPECT_EQ(tone.window(whole, 50, 100).value(), LogMel(80).window(recording_of(part), 0, 100).value());
  EXPECT_EQ(tone.window(whole, 50, 100, 7).value(), tone.window(whole, 50, 100).value()) << "its own maximum clamps it";
  EXPECT_EQ(tone.maximum(whole).value(), 0);
}
