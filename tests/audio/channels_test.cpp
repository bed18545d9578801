#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "made_wav.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kLength = 24'000;

class Channels : public testing::Test {
 protected:
  std::filesystem::path write(const MadeWav& wav, const std::vector<double>& gains) {
    const auto path = folder_ / "made.wav";
    EXPECT_TRUE(write_file_atomically(path, wav.of(interleaved(voice_, gains))));
    return path;
  }
  Result<Recording> decode(const std::filesystem::path& path, std::int32_t channel = 0) {
    return decode_recording(path, {}, {}, {.channel = channel});
  }
  void expect_voice(const Result<Recording>& recording, const std::string& what) {
    ASSERT_TRUE(recording) << what << recording.error().text();
    EXPECT_EQ(recording->samples(), std::ssize(voice_)) << what;
    EXPECT_GT(likeness(all_of(*recording), voice_), 0.98) << what;
    EXPECT_THAT(recording->losses(), IsEmpty()) << what;
  }

  TempFolder folder_;
  std::vector<std::int16_t> voice_ = noise(kLength);
};

std::vector<double> only(std::size_t channels, std::size_t channel) {
  std::vector<double> gains(channels, 0.0);
  gains[channel] = 1;
  return gains;
}

TEST_F(Channels, AVoiceOnAnyChannelOfOneToEightIsInTheMix) {
  for (std::uint16_t channels = 1; channels <= 8; ++channels)
    for (std::size_t at = 0; at < channels; ++at) {
      const auto recording = decode(write({.channels = channels}, only(channels, at)));
      expect_voice(recording, std::to_string(at + 1) + " of " + std::to_string(channels));
      EXPECT_THAT(recording->notes(), IsEmpty());
    }
}

TEST_F(Channels, AVoiceOnAnyChannelOfALayoutIsInTheMix) {
  constexpr std::uint32_t kMasks[] = {0x8,    0x9,    0xb,     0xf,     0x3f,    0x60f, 0x63f, 0x100,
                                      0x203f, 0x503f, 0x2d63f, 0x10033, 0x30000, 0x7,   0x13f, 0xff};
  for (const std::uint32_t mask : kMasks) {
    const auto channels = static_cast<std::uint16_t>(std::popcount(mask));
    for (std::size_t at = 0; at < channels; ++at)
      expect_voice(decode(write({.channels = channels, .mask = mask}, only(channels, at))),
                   std::to_string(at + 1) + " of mask " + std::to_string(mask));
  }
}

TEST_F(Channels, WithoutALayoutAllCountTheSame) {
  const auto mixed = all_of(decode(write({.channels = 6}, only(6, 3))).value());
  for (std::size_t i = 0; i < voice_.size(); i += 100) ASSERT_NEAR(mixed[i], voice_[i] / 6.0, 1.0);
}

TEST_F(Channels, OneInvertedChannelDoesNotSilenceARecording) {
  for (const std::uint32_t rate : {8000U, 16000U, 44100U}) {
    const auto recording = decode(write({.channels = 2, .rate = rate}, {0.9, -0.8}));
    ASSERT_TRUE(recording);
    EXPECT_THAT(recording->notes(), testing::ElementsAre(HasSubstr("channel 1 of 2 is transcribed alone"))) << rate;
    EXPECT_THAT(recording->notes(), testing::ElementsAre(HasSubstr("; channel N|mix chooses otherwise")));
    if (rate == 16000) expect_voice(recording, "inverted");
  }
}

TEST_F(Channels, TheLoudestOfManyThatCancelOutIsTaken) {
  const auto recording = decode(write({.channels = 4}, {0.3, -0.5, 0.2, 0}));
  ASSERT_TRUE(recording);
  EXPECT_LT(likeness(all_of(*recording), voice_), -0.98);
  EXPECT_THAT(recording->notes(), testing::ElementsAre(HasSubstr("channel 2 of 4")));
}

TEST_F(Channels, NamedMixIsUsedEvenWhenSilent) {
  const auto recording = decode(write({.channels = 2}, {1, -1}), AudioChoice::kMix);
  ASSERT_TRUE(recording);
  EXPECT_THAT(all_of(*recording), testing::Each(testing::AllOf(testing::Ge(-1), testing::Le(1))));
  EXPECT_THAT(recording->notes(), IsEmpty());
}

TEST_F(Channels, SpeakersOnChannelsOfTheirOwnAreMixed) {
  std::vector<std::int16_t> pcm;
  for (std::size_t i = 0; i < voice_.size(); ++i) {
    pcm.push_back(i < kLength / 2 ? voice_[i] : std::int16_t{0});
    pcm.push_back(i < kLength / 2 ? std::int16_t{0} : voice_[i]);
  }
  ASSERT_TRUE(write_file_atomically(folder_ / "two.wav", MadeWav{.channels = 2}.of(pcm)));
  const auto recording = decode(folder_ / "two.wav");
  expect_voice(recording, "two speakers");
  EXPECT_THAT(recording->notes(), IsEmpty());
}

TEST_F(Channels, NamedChannelIsDecodedAlone) {
  const auto path = write({.channels = 3}, {0.5, 0, -1});
  expect_voice(decode(path, 1), "first");
  EXPECT_THAT(all_of(decode(path, 2).value()), testing::Each(0));
  EXPECT_LT(likeness(all_of(decode(path, 3).value()), voice_), -0.98);
  expect_voice(decode(write({.channels = 1}, {1}), 1), "the only one");
}

TEST_F(Channels, MissingChannelErrorNamesTheValidRange) {
  for (const std::uint16_t channels : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{6}}) {
    const auto recording = decode(write({.channels = channels}, only(channels, 0)), channels + 1);
    ASSERT_FALSE(recording);
    EXPECT_EQ(recording.error().fault, Fault::unsupported);
    EXPECT_THAT(recording.error().what, HasSubstr("expected channel 1 to " + std::to_string(channels)));
  }
}

}  // namespace
}  // namespace tutti
