#include "feed/labelled/long_audio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/samples.h"
#include "base/files.h"
#include "base/random/counter_random.h"
#include "feed/labelled/audio_reading.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

/// Twelve seconds of noise at 16 kHz, not a multiple of anything.
std::filesystem::path noise_file(const TempFolder& folder) {
  std::vector<std::int16_t> pcm(12 * 16'000 + 137);
  CounterRandom random({5});
  for (auto& sample : pcm) sample = static_cast<std::int16_t>(2000 * random.normal());
  const auto path = folder / "noise.wav";
  write_wav(path, pcm);
  return path;
}

std::vector<float> in_stretches(LongAudio& audio, std::int64_t at_once) {
  std::vector<float> all;
  for (std::int64_t first = 0; first < audio.samples(); first += at_once) {
    const auto part = audio.read(first, at_once);
    if (!part) ADD_FAILURE() << part.error().text();
    if (part) all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

}  // namespace

TEST(LongAudio, StretchesAreTheWholeFileAtAnyRate) {
  const TempFolder folder;
  const auto path = noise_file(folder);
  for (const Hertz rate : {Hertz{16'000}, Hertz{4096}, Hertz{8000}, Hertz{22'050}}) {
    auto whole = read_labelled_audio(path, ChildDecoder());
    ASSERT_TRUE(whole);
    const auto expected = MonoResampler().convert(std::move(whole->audio), rate).value().samples;
    auto audio = LongAudio::open(path, rate, Seconds(10));
    ASSERT_TRUE(audio);
    const auto found = in_stretches(*audio, rate.value + 17);
    ASSERT_EQ(found.size(), expected.size()) << rate.value;
    float most = 0;
    for (std::size_t i = 0; i < found.size(); ++i) most = std::max(most, std::abs(found[i] - expected[i]));
    EXPECT_LT(most, 1e-5F) << rate.value;
    EXPECT_FALSE(audio->is_silent());
  }
}

TEST(LongAudio, ShortAndUnknownFilesAreLeftToBeReadWhole) {
  const TempFolder folder;
  EXPECT_FALSE(LongAudio::open(noise_file(folder), Hertz{4096}, Seconds(20)));
  ASSERT_TRUE(write_file_atomically(folder / "text.wav", "this is a text"));
  EXPECT_FALSE(LongAudio::open(folder / "text.wav", Hertz{4096}, Seconds(0)));
  EXPECT_FALSE(LongAudio::open(folder / "none.wav", Hertz{4096}, Seconds(0)));
}

TEST(LongAudio, DecodedStretchesAreTheWholeFile) {
  const auto path = test_data() / "formats/sonnet/p001.mp4";
  const ChildDecoder children;
  auto whole = read_labelled_audio(path, children);
  ASSERT_TRUE(whole) << whole.error().text();
  const auto expected = MonoResampler().convert(std::move(whole->audio), Hertz{4096}).value().samples;
  EXPECT_FALSE(LongAudio::open(path, Hertz{4096}, Seconds(0))) << "libsndfile reads it";
  EXPECT_FALSE(LongAudio::decoded(path, children, Hertz{4096}, Seconds(3600)).value());
  auto audio = LongAudio::decoded(path, children, Hertz{4096}, Seconds(0.5));
  ASSERT_TRUE(audio && *audio);
  const auto found = in_stretches(**audio, 1777);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5F) << i;
}

TEST(LongAudio, DecodedFileThatIsNoAudioIsAnError) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "text.m4a", std::string(20'000, 'x')));
  EXPECT_FALSE(LongAudio::decoded(folder / "text.m4a", ChildDecoder(), Hertz{4096}, Seconds(1)));
}

TEST(LongAudio, SilenceIsReported) {
  const TempFolder folder;
  write_wav(folder / "silent.wav", std::vector<std::int16_t>(160'000));
  auto audio = LongAudio::open(folder / "silent.wav", Hertz{4096}, Seconds(1));
  ASSERT_TRUE(audio);
  in_stretches(*audio, 4096);
  EXPECT_TRUE(audio->is_silent());
}

TEST(SampleCheck, SamplesThatNoMicrophoneRecordsAreNamed) {
  const auto problem = [](float value) {
    const std::vector<float> samples{0, 0.5F, value, 0};
    const auto checked = SampleCheck().add(samples, 100);
    return checked ? std::string() : checked.error().what;
  };
  EXPECT_EQ(problem(-1), "");
  EXPECT_EQ(problem(2147483648.0F), "") << "whole numbers of 32 bits as floats";
  EXPECT_NE(problem(1e30F).find("sample 102 is 1"), std::string::npos) << problem(1e30F);
  for (const float value : {NAN, INFINITY, -INFINITY}) EXPECT_EQ(problem(value), "sample 102 is no finite number");
}
