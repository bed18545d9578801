#include "feed/labelled/long_audio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/samples.h"
#include "base/files.h"
#include "base/random/counter_random.h"
#include "feed/labelled/audio_reading.h"
#include "support/temp_folder.h"

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

TEST(LongAudio, SilenceIsReported) {
  const TempFolder folder;
  write_wav(folder / "silent.wav", std::vector<std::int16_t>(160'000));
  auto audio = LongAudio::open(folder / "silent.wav", Hertz{4096}, Seconds(1));
  ASSERT_TRUE(audio);
  in_stretches(*audio, 4096);
  EXPECT_TRUE(audio->is_silent());
}
