#include "audio/joined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/clip/clip.h"
#include "audio/length/sound_length.h"
#include "made_wav.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::filesystem::path sound(const std::string& name) {
  return std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio/sounds" / name;
}

class Joined : public testing::Test {
 protected:
  Result<Recording> decode(const std::string& name, const std::string& content) {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content));
    return decode_recording(folder_ / name);
  }
  std::optional<Seconds> length(const std::string& content) {
    MemoryBytes bytes(std::as_bytes(std::span(content)));
    return sound_length(bytes);
  }

  TempFolder folder_;
};

TEST_F(Joined, WavBehindWavIsDecodedOn) {
  const auto first = noise(20'000), second = noise(30'001);
  const auto content = MadeWav{}.of(first) + MadeWav{}.of(second);
  const auto recording = decode("two.wav", content);
  ASSERT_TRUE(recording) << recording.error().text();
  auto expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(all_of(*recording), expected);
  EXPECT_THAT(recording->losses(), testing::IsEmpty());
  EXPECT_THAT(recording->notes(), Contains(HasSubstr("2 recordings behind one another")));
  EXPECT_NEAR(length(content)->count(), 50'001.0 / 16000, 1e-6);
}

TEST_F(Joined, OthersRatesChannelsAndChunksBetweenDoNotMatter) {
  const auto pcm = noise(16'000);
  const std::string chunk("LIST\x05\0\0\0abcde\0", 14);
  const auto content =
      MadeWav{}.of(pcm) + chunk + MadeWav{.channels = 2, .rate = 8000}.of(pcm) + chunk + MadeWav{.rate = 44100}.of(pcm);
  const auto recording = decode("three.wav", content);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_NEAR(recording->duration().count(), 2 + 16'000.0 / 44100, 0.002);
  EXPECT_NEAR(length(content)->count(), recording->duration().count(), 0.002);
}

TEST_F(Joined, StreamsThatDoNotSayTheirLengthAreSearched) {
  const auto pcm = noise(16'000);
  for (const std::uint32_t claimed : {0xffffffffU, 0U}) {
    const auto one = MadeWav{.claimed = claimed}.of(pcm);
    const auto recording = decode("streams.wav", one + one);
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_EQ(recording->samples(), 32'000) << claimed;
    EXPECT_NEAR(length(one).value_or(Seconds(0)).count(), 1, 1e-6) << claimed;
  }
}

TEST_F(Joined, WhatCannotBeDecodedIsReported) {
  const auto pcm = noise(16'000);
  auto broken = MadeWav{}.of(pcm);
  broken.replace(20, 2, "\x99\x99");  // of no known kind
  const auto recording = decode("broken.wav", MadeWav{}.of(pcm) + broken);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_EQ(recording->samples(), 16'000);
  EXPECT_THAT(recording->losses(), Contains(testing::AllOf(HasSubstr("at 00:00:01.0"), HasSubstr("byte 32044"))));
  const auto headless = decode("headless.wav", MadeWav{}.of({}) + MadeWav{}.of(pcm));
  ASSERT_TRUE(headless) << headless.error().text();
  EXPECT_EQ(headless->samples(), 16'000);
}

TEST_F(Joined, EveryContainerIsDecodedOn) {
  for (const char* name : {"adpcm.wav", "lossless.m4a", "mono.opus", "stereo24.flac", "streamed.wav", "surround.flac",
                           "surround.ogg", "telephone.au", "two.mp4", "video.mkv", "windows.wma"}) {
    const std::string one = read_file(sound(name)).value();
    const auto single = decode(name, one), twice = decode(std::string("twice-") + name, one + one);
    ASSERT_TRUE(single && twice) << name << (twice ? "" : twice.error().text());
    EXPECT_NEAR(twice->duration().count(), 2 * single->duration().count(), 0.06) << name;
    const auto claimed = length(one + one);
    EXPECT_NEAR(claimed.value_or(twice->duration()).count(), twice->duration().count(), 0.1) << name;
  }
}

TEST_F(Joined, OneRecordingEndsWhereItsFileDoes) {
  for (const auto& entry : std::filesystem::directory_iterator(sound(""))) {
    const std::string content = read_file(entry.path()).value();
    MemoryBytes bytes(std::as_bytes(std::span(content)));
    EXPECT_EQ(first_recording_end(bytes), std::ssize(content)) << entry.path();
    EXPECT_EQ(first_flac_end(bytes), std::ssize(content)) << entry.path();
  }
}

TEST_F(Joined, IsNoClipForTraining) {
  const auto pcm = noise(16'000);
  const auto content = MadeWav{}.of(pcm) + MadeWav{}.of(pcm);
  MemoryBytes bytes(std::as_bytes(std::span(content)));
  const auto clip = decode_clip(bytes);
  ASSERT_FALSE(clip) << "it would be silently shorter";
  EXPECT_EQ(clip.error().fault, Fault::unsupported) << "and so goes to decode_recording";
}

}  // namespace
}  // namespace tutti
