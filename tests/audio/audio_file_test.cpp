#include "audio/synth/audio_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "audio/recording.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

std::vector<std::int16_t> samples_of(const Recording& recording) {
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(recording.samples()));
  EXPECT_TRUE(recording.read(0, pcm));
  return pcm;
}

/// One second of 400 Hz.
std::vector<std::int16_t> tone(Hertz rate) {
  std::vector<std::int16_t> pcm;
  for (int i = 0; i < rate.value; ++i)
    pcm.push_back(static_cast<std::int16_t>(12000 * std::sin(2 * 3.14159265358979 * 400 * i / rate.value)));
  return pcm;
}

double root_mean_square(const std::vector<std::int16_t>& pcm) {
  double sum = 0;
  for (const double sample : pcm) sum += sample * sample;
  return std::sqrt(sum / static_cast<double>(pcm.size()));
}

/// How often the samples change their sign from below to above.
int rises(const std::vector<std::int16_t>& pcm) {
  int count = 0;
  for (std::size_t i = 1; i < pcm.size(); ++i) count += pcm[i - 1] < 0 && pcm[i] >= 0 ? 1 : 0;
  return count;
}

}  // namespace

TEST(AudioFile, ToneIsTheSameToneInEveryFormat) {
  const TempFolder folder;
  for (const auto& [format, name] : {std::pair(AudioFormat::wav, "a.wav"), std::pair(AudioFormat::flac, "a.flac"),
                                     std::pair(AudioFormat::mp3, "a.mp3"), std::pair(AudioFormat::opus, "a.opus")}) {
    for (const int rate : {16000, 24000}) {
      const auto bytes = audio_bytes(tone(Hertz{rate}), format, Hertz{rate});
      ASSERT_TRUE(bytes) << name << ": " << bytes.error().text();
      std::ofstream(folder / name, std::ios::binary) << *bytes;
      const auto recording = decode_recording(folder / name);
      ASSERT_TRUE(recording) << name << ": " << recording.error().text();
      EXPECT_TRUE(recording->losses().empty()) << name;
      EXPECT_NEAR(recording->duration().count(), 1, 0.08) << name << ": encoders fill up their last frame";
      const auto pcm = samples_of(*recording);
      EXPECT_NEAR(root_mean_square(pcm), 12000 / std::sqrt(2), 600) << name;
      EXPECT_NEAR(rises(pcm), 400, 12) << name;
    }
  }
}

TEST(AudioFile, RateThatAFormatDoesNotHaveIsAnError) {
  const auto bytes = audio_bytes(tone(Hertz{22050}), AudioFormat::opus, Hertz{22050});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().fault, Fault::unsupported);
  EXPECT_NE(bytes.error().what.find("Opus"), std::string::npos) << bytes.error().what;
}
